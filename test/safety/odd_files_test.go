package safety

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// oddFile is one row: something in the work tree that is not an ordinary file.
type oddFile struct {
	name  string
	make  string // shell, in the work tree
	needs string // shell: the row is skipped unless it succeeds
	skips string // the checkpoint names this as not held, "" when it holds everything
	way   string // a text in the refusal to go back to before it, "" if that works
	apart string // paths (a regular expression) that need not come back byte by byte; a comment gives the reason
	plain bool   // without root's right to read everything
	races bool   // files are written during the checkpoint: it may name some as not held
	long  bool   // only in the long form
}

// TestBar19Files has odd files as they occur in people's work trees. None of them prevents a checkpoint: it holds the
// file, or names it. Going back never deletes a file that no checkpoint holds, and going forward restores all others
// exactly.
func TestBar19Files(t *testing.T) {
	t.Parallel()
	const deep = `d=$(printf 'd%.0s' $(seq 200)); for i in $(seq `
	rows := []oddFile{
		{name: "spaces", make: `echo x > 'a b'; mkdir ' c '; echo x > ' c / d '`},
		{name: "newline", make: `echo x > "$(printf 'a\nb')"; mkdir "$(printf 'c\nd')"; echo x > "$(printf 'c\nd/e')"`},
		{name: "tab, escape and bell", make: `echo x > "$(printf 'a\tb\033[31m\007')"`},
		{name: "quotes", make: `echo x > "a'b\"c\$d\\e"`},
		{name: "options", make: `echo x > ./-rf; echo x > ./--force; mkdir ./-f; echo x > ./-f/-f`},
		{name: "pathspecs", make: `echo x > ':(top)x'; echo x > ':!x'; echo x > '*'; echo x > '[a-z]?'; echo x > '#x'; echo x > '!x'`},
		{name: "255 bytes", make: `echo x > "$(printf 'n%.0s' $(seq 255))"`},
		{name: "path of 3,800 bytes", make: deep + `19); do mkdir $d; cd $d; done; echo x > f`},
		{name: "path of more than 4,096 bytes", needs: `perl -e 1`, make: `perl -e '$d = "d" x 200; for (1..22) { mkdir $d; chdir $d } open F, ">f"; print F "x"'`, skips: "opened"},
		{name: "invalid UTF-8", make: `echo x > "$(printf 'a\377\376b')"; mkdir "$(printf '\300')"; echo x > "$(printf '\300/x')"`},
		{name: "NFC and NFD", make: `echo 1 > "$(printf '\303\251')"; echo 2 > "$(printf 'e\314\201')"`},
		{name: "case twins", make: `echo 1 > Twin; echo 2 > twin; mkdir Dir dir2; echo 1 > Dir/f; echo 2 > dir2/f`},
		{name: "trailing dots and spaces", make: `echo x > 'dot.'; echo x > 'space '; echo x > '...'`},
		{name: "names of other systems", make: `echo x > con; echo x > aux.txt; echo x > 'a\b'; echo x > 'a:b'`},
		{name: "names like .git", make: `mkdir git~1; echo x > git~1/config; mkdir .GIT; echo x > .GIT/config; echo x > .gitfoo`, skips: "a name that git does not allow"},
		{name: "a name like .git, hidden", make: `echo x > "$(printf '.g\342\200\214it')"`, skips: "a name that git does not allow"},

		{name: "link that leads nowhere", make: `ln -s nowhere dangling; mkdir sub; ln -s ../../../../nowhere sub/out`},
		{name: "link to a directory", make: `ln -s dir linked; ln -s . self`},
		{name: "absolute link", make: `ln -s /etc/passwd passwd; ln -s / slash`},
		{name: "links in a circle", make: `ln -s b1 a1; ln -s a1 b1; ln -s loop loop`},
		{name: "file becomes a link out of the tree", make: `mkdir ../outside; echo precious > ../outside/a; rm a.txt; ln -s ../outside/a a.txt`},
		{name: "directory becomes a link out of the tree", make: `mkdir -p ../outside/deep; echo precious > ../outside/deep/b.txt; rm -r dir; ln -s ../outside dir`},

		{name: "pipe", make: `mkfifo pipe; mkdir sub; mkfifo sub/pipe`},
		{name: "file becomes a pipe", make: `rm a.txt; mkfifo a.txt`, skips: "a.txt"},
		{name: "directory becomes a pipe", make: `rm -r dir; mkfifo dir`, way: "dir"},
		{name: "socket", needs: `perl -MSocket -e 1`, make: `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && bind(S, sockaddr_un("socket")) or die $!'`},
		{name: "device", needs: byRoot + ` && mknod ../device c 1 3`, make: `mknod device c 1 3; mknod block b 7 0`},

		{name: "file that cannot be read", make: `echo secret > closed; chmod 0 closed`, skips: "closed", plain: true},
		{name: "tracked file that cannot be read", make: `echo secret > a.txt; chmod 0 a.txt`, skips: "a.txt", plain: true},
		{name: "directory that cannot be read", make: `mkdir closed; echo secret > closed/x; chmod 0 closed`, skips: "closed", plain: true},
		{name: "tracked directory that cannot be read", make: `chmod 0 dir/deep`, skips: "dir/deep", plain: true},
		{name: "directory that cannot be searched", make: `mkdir closed; echo secret > closed/x; chmod 0644 closed`, skips: "closed", plain: true},
		{name: "directory that cannot be written to", make: `mkdir closed; echo x > closed/x; chmod 0555 closed`, plain: true, way: "closed/x"},
		{name: ".gitignore that cannot be read", make: `chmod 0 .gitignore`, plain: true, skips: ".gitignore"},

		{name: "large", make: `truncate -s 5G large.bin; dd if=/dev/zero of=eleven bs=1M count=11 2> /dev/null`, skips: "large.bin"},
		{name: "empty", make: `: > empty; mkdir -p no/files/at/all; : > .gitkeep`},
		// Of a file's mode, git keeps only the executable bit.
		{name: "mode 0", make: `echo x > zero; chmod 0 zero`, needs: byRoot, apart: `zero`},
		{name: "setuid, sticky, for all to write", make: `echo x > set; chmod 6755 set; mkdir sticky; chmod 1777 sticky; echo x > sticky/all; chmod 0666 sticky/all`, apart: `set|sticky/all`},
		{name: "read-only", make: `echo x > readonly; chmod 0444 readonly a.txt`, apart: `readonly|a\.txt`},
		{name: "hard links", make: `echo x > one; ln one two; ln a.txt three; ln a.txt ../outside`},
		{name: "attributes that mislead", make: `printf '* -text\n*.txt binary export-ignore\nx merge=no-such-driver diff=no-such-driver\n[attr]y z\n' > .gitattributes; echo x > x`},
		{name: ".gitignore that ignores all", make: `echo '*' > .gitignore; echo x > x`},
		{name: ".gitmodules that lies", make: `printf '[submodule "x"]\n\tpath = dir\n\turl = --upload-pack=touch\n\tignore = all\n' > .gitmodules; echo x > x`},

		{name: "file becomes a directory", make: `rm a.txt; mkdir a.txt; echo x > a.txt/a.txt`},
		{name: "directory becomes a file", make: `rm -r dir; echo x > dir`},
		// Git still tracks the files that it tracked before.
		{name: "directory becomes a repository", make: `git init -q dir/deep; git -C dir/deep add b.txt; git -C dir/deep commit -q -m inner`},
		// The file has another length each time it is read.
		{name: "file that grows while it is read", make: `(for i in $(seq 3000); do echo "$i" >> growing; done; : > ../state/ended) > /dev/null 2>&1 &`, apart: `growing`, races: true},
		{name: "files that come and go", make: `(for i in $(seq 300); do : > "come$i"; mkdir "go$i"; rm -r "come$i" "go$i"; done; : > ../state/ended) > /dev/null 2>&1 &`, apart: `(come|go)\d+`, races: true},
		{name: "200,000 files", make: `mkdir -p many; cd many; for d in $(seq 200); do mkdir $d; (cd $d; seq 1000 | xargs touch); done`, long: true, skips: "many"},
	}
	t.Run("rows", func(t *testing.T) {
		for _, o := range rows {
			t.Run(o.name, func(t *testing.T) {
				t.Parallel()
				testkit.Sample(t)
				if o.long && os.Getenv("WFS_SWEEP") != "all" {
					t.Skip("in the long form: WFS_SWEEP=all")
				}
				f := oddFixture(t)
				f.needs(o.needs)
				f.lies(o)
			})
		}
	})
	t.Logf("%d rows", len(rows))
}

// Not every machine can fulfil these, even with all tools installed: .ci/run reports them.
const (
	byRoot   = `test "$(id -u)" = 0`
	reftable = `git init -q --ref-format=reftable ../try`
)

// needs skips a test if a requirement is missing here. Under WFS_REQUIRE_SANDBOX a missing requirement that can be
// installed fails the test.
func (f *fixture) needs(command string) {
	f.t.Helper()
	out, exit := f.try(nil, "sh", "-c", command)
	switch {
	case exit == exitOK:
	case strings.HasPrefix(command, byRoot), command == reftable:
		f.t.Skipf("not here: %s: %s", command, out)
	default:
		notHere(f.t, command+": "+out)
	}
}

// unprivileged wraps a command so that it runs without root's right to read everything.
func unprivileged(t *testing.T, args []string) []string {
	if os.Getuid() != 0 {
		return args
	}
	const caps = "-dac_override,-dac_read_search,-fowner"
	if exec.Command("setpriv", "--bounding-set="+caps, "--inh-caps="+caps, "true").Run() != nil {
		notHere(t, "root reads everything, and there is no setpriv")
	}
	return append([]string{"setpriv", "--bounding-set=" + caps, "--inh-caps=" + caps}, args...)
}

func (f *fixture) lies(o oddFile) {
	f.t.Helper()
	wfs := func(args ...string) (string, int) {
		args = append([]string{"wfs"}, args...)
		if o.plain {
			args = unprivileged(f.t, args)
		}
		return f.try(nil, args...)
	}
	f.ok("wfs", "switch", "older")
	f.ok("sh", "-e", "-c", o.make)
	apart := regexp.MustCompile(`(?m)^"(` + o.apart + `)".*\n`)
	tree := func() string { return apart.ReplaceAllString(f.workTree(), "") }
	before := tree()
	outside := listing(filepath.Dir(f.dir), func(p string) bool { return p == "repo" || p == "state" })

	out, exit := wfs("checkpoint", "-m", "odd")
	if exit != 0 {
		f.t.Fatalf("checkpoint: exit %d: %s", exit, out)
	}
	named := strings.Contains(out, "not in the checkpoint") || strings.Contains(out, "excluded from the checkpoint")
	if o.races {
		f.ok("sh", "-c", "until test -e ../state/ended; do sleep 0.01; done")
	} else if named != (o.skips != "") || !strings.Contains(out, o.skips) {
		f.t.Errorf("checkpoint: want %q to be named: %s", o.skips, out)
	}
	if d := differing(before, tree()); d != "" {
		f.t.Errorf("checkpoint changed files:\n%s", d)
	}
	out, exit = wfs("resume", "@0")
	switch {
	case o.way == "" && exit != 0, o.way != "" && (exit != exitError || !strings.Contains(out, o.way)):
		f.t.Fatalf("resume @0: exit %d, want to read %q: %s", exit, o.way, out)
	case o.way != "":
		if d := differing(before, tree()); d != "" {
			f.t.Errorf("a refused resume changed files:\n%s", d)
		}
		return
	}
	if f.exists("older.txt") {
		f.t.Error("resume @0 left files of checkpoint 1")
	}
	if out, exit := wfs("undo"); exit != 0 {
		f.t.Fatalf("undo: exit %d: %s", exit, out)
	}
	if d := differing(before, tree()); d != "" {
		f.t.Errorf("undo did not bring back everything:\n%s", d)
	}
	if now := listing(filepath.Dir(f.dir), func(p string) bool { return p == "repo" || p == "state" }); now != outside {
		f.t.Errorf("something changed outside of the work tree:\n%s", differing(outside, now))
	}
}
