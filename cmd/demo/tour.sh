# The tour of `wfs demo`. It begins in a new directory; $1 is the program, $2 the directory in which it is there later.
set -e

tell() { printf '\n'; printf '# %s\n' "$@"; }

run() { # shows a command and what it prints
	printf '$'
	for word; do
		case $word in
		*[\ \*\']*) printf ' "%s"' "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
	"$@"
}

mkdir bin receipts
cp "$1" bin/wfs
PATH=$2/bin:$PATH
cat > gitconfig <<'END'
[user]
	name = Demo
	email = demo@example.com
[init]
	defaultBranch = main
[advice]
	detachedHead = false
END
cd receipts
printf 'module example.com/receipt\n\ngo 1.21\n' > go.mod
echo '*.out' > .gitignore
cat > price.go <<'END'
package receipt

// Sum adds amounts of cents.
func Sum(cents []int) int {
	total := 0
	for _, c := range cents {
		total += c
	}
	return total
}
END
cat > price_test.go <<'END'
package receipt

import "testing"

func TestSum(t *testing.T) {
	if got := Sum([]int{120, 80}); got != 200 {
		t.Errorf("Sum = %d, want 200", got)
	}
}
END
cat > SPEC.md <<'END'
# Format prices

- [ ] cents are written with two digits: 12.05
- [ ] refunds are negative: -12.05
END

tell "A small Go module, in $2/receipts. Its spec has two items."
git init -q
run cat SPEC.md
git add -A
git commit -q -m receipts
tell "wfs finds out how the project is tested, and tries it."
run wfs init --yes
git add .wfs
git commit -q -m "how wfs judges this project"
tell "A session: a branch and a history of its own. The agent is a script, so that you see what an agent might do."
run wfs new "format prices" --spec SPEC.md --agent script:../agent.yaml

tell "Lap 1. Watch the second phase: the agent says that it is done when it is not, and then deletes the test." \
	"The engine runs the tests itself, and knows which tests the lap is about."
run wfs run --max-attempts 5
run wfs log

tell "Lap 2. In the middle of the agent's work wfs is killed with SIGKILL."
printf '$ wfs run &\n'
wfs run &
driver=$!
until test -e refund_test.go; do
	kill -0 $driver
	sleep 0.1
done
run kill -9 $driver
wait $driver || true
tell "To make it worse: all local state of wfs is deleted, and a source file is scribbled over."
run rm -rf .git/wfs
printf '$ echo scribble > price.go\n'
echo scribble > price.go
tell "The checkpoints are in refs, and what is in the work tree is never overwritten before it is in one too."
run wfs status

run wfs resume @5
run git status --short --branch
tell "Even the scribble was kept. undo takes the resume back, and redo does it again."
run wfs undo
run cat price.go
run wfs redo
run head -n 3 price.go

tell "On with lap 2, to the end of the spec."
run wfs run
tell "Done, and judged. The work is handed over as one commit on a branch of your own. Nothing is pushed."
run wfs finish
run git log --stat -1

tell "The repository is yours to explore:" "" "  cd $2/receipts" "  export PATH=$2/bin:\$PATH" "  wfs list" \
	"  wfs log format-prices" "  git log --oneline --graph --exclude='refs/wfs*' --all"
