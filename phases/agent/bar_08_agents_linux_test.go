package agent

import "github.com/wfs-dev/wfs/session"

// zooHead begins every script of the zoo, with functions that print a stream like claude's.
const zooHead = `
hello() { echo '{"type":"system","subtype":"init","session_id":"11111111-1111-4111-8111-111111111111","model":"m","claude_code_version":"2.1.329"}'; }
say() { echo '{"type":"assistant","message":{"id":"m'$1'","content":[{"type":"text","text":"step '$1'"}]}}'; }
alive() { echo '{"type":"system","subtype":"status","status":"requesting"}'; }
retry() { echo '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":600,"error_status":'$1',"error":"'$2'"}'; }
bye() { echo '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"total_cost_usd":0.01,"result":"well","session_id":"11111111-1111-4111-8111-111111111111"}'; }
for_ever() { while :; do "$@"; sleep 0.2; done; }
sleeps() { exec -a "$ZOO" sleep 1000; }
`

// beast is an agent that misbehaves.
type beast struct {
	name    string
	script  string
	idle    int  // milliseconds; 0: none
	timeout int  // milliseconds; 0: none
	cancel  bool // once it has printed something
	within  int  // milliseconds until it must be stopped; 0: it ends by itself
	want    session.Outcome
}

const zooTime = 700 // milliseconds: time-outs and idle times of the zoo

// zoo has agents with misbehaviour that was seen in agents of all makes.
var zoo = []beast{
	{name: "good", script: `hello; say 1; bye`, want: session.OutcomeOK},
	{name: "no word of how it ended", script: `hello; say 1`, want: session.OutcomeNoResult},
	{name: "prints nothing at all", script: `true`, want: session.OutcomeNoResult},
	{name: "crashes", script: `hello; echo "it broke" >&2; exit 9`, want: session.OutcomeFailed},
	{name: "killed from elsewhere", script: `hello; kill -9 $$`, want: session.OutcomeFailed},

	{name: "silent", script: `hello; sleeps`, idle: zooTime, within: zooTime, want: session.OutcomeIdle},
	{name: "silent from the start", script: `sleeps`, idle: zooTime, within: zooTime, want: session.OutcomeIdle},
	{name: "stops itself", script: `hello; kill -STOP $$`, idle: zooTime, within: zooTime, want: session.OutcomeIdle},
	{name: "alive without doing anything", script: `hello; for_ever alive`, idle: 3 * zooTime, within: 3 * zooTime, want: session.OutcomeHung},
	{name: "retries for ever", script: `hello; for_ever retry 529 overloaded`, idle: zooTime, within: zooTime, want: session.OutcomeOverloaded},
	{name: "works in silence", script: `hello; end=$(($(date +%s%N)+5000000000)); while [ $(date +%s%N) -lt $end ]; do i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; done; bye`,
		idle: 4 * zooTime, want: session.OutcomeOK},
	{name: "a command of it works in silence", script: `hello; setsid bash -c 'end=$(($(date +%s)+5)); while [ $(date +%s) -lt $end ]; do i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; done'; bye`,
		idle: 4 * zooTime, want: session.OutcomeOK},
	{name: "writes files in silence", script: `hello; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo $i > f$i; sleep 0.1; done; bye`, idle: zooTime, want: session.OutcomeOK},
	{name: "too long", script: `hello; i=0; while :; do i=$((i+1)); say $i; sleep 0.02; done`, idle: zooTime, timeout: zooTime, within: zooTime, want: session.OutcomeTimeout},

	{name: "hangs after its last word", script: `hello; bye; sleeps`, within: zooTime, want: session.OutcomeOK},
	{name: "hangs after its last word, deaf", script: `trap '' INT TERM; hello; bye; for_ever true`, within: zooTime, want: session.OutcomeOK},
	{name: "goes on after a last word", script: `hello; bye; setsid sleep 2; say 2; bye`, want: session.OutcomeOK},
	{name: "not logged in", script: `hello; for_ever retry 401 authentication_failed`, within: zooTime, want: session.OutcomeAuth},
	{name: "no credit", script: `hello; for_ever retry 402 billing_error`, within: zooTime, want: session.OutcomeBilling},

	{name: "deaf", script: `trap '' INT TERM HUP; hello; for_ever true`, timeout: zooTime, within: zooTime, want: session.OutcomeTimeout},
	{name: "exit 0 when interrupted", script: `trap 'exit 0' INT; hello; for_ever true`, cancel: true, within: zooTime, want: session.OutcomeInterrupted},
	{name: "deaf when interrupted", script: `trap '' INT TERM; hello; for_ever true`, cancel: true, within: zooTime, want: session.OutcomeInterrupted},

	{name: "leaves a command", script: `hello; (sleeps) & bye`, want: session.OutcomeOK},
	{name: "leaves a session", script: `hello; setsid bash -c 'exec -a "$ZOO" sleep 1000' & bye`, want: session.OutcomeOK},
	{name: "leaves a daemon", script: `hello; (setsid bash -c 'trap "" TERM INT HUP; (while :; do exec -a "$ZOO" sleep 1000; done) &' &) ; sleep 0.1; bye`, want: session.OutcomeOK},
	{name: "leaves a daemon without a name", script: `hello; (env -i ZOO="$ZOO" setsid bash -c 'bash -c "exec -a \"$ZOO\" sleep 1000" & exit' &) ; sleep 0.1; bye`, want: session.OutcomeOK},
	{name: "leaves a writer", script: `hello; setsid bash -c 'exec -a "$ZOO" bash -c "while :; do date +%N > written; done"' & bye`, want: session.OutcomeOK},
	{name: "leaves many", script: `hello; for i in $(seq 200); do setsid bash -c 'exec -a "$ZOO" sleep 1000' & done; bye`, want: session.OutcomeOK},
	{name: "forks as fast as it can", script: `hello; f() { (sleeps) & }; while :; do f; f; f; sleep 0.005; done`, timeout: zooTime, within: zooTime, want: session.OutcomeTimeout},
	{name: "its standard output is held", script: `hello; bye; setsid bash -c 'exec -a "$ZOO" sleep 1000' & exit 0`, want: session.OutcomeOK},
	{name: "closes what it has", script: `hello; exec >&- 2>&- <&-; sleeps`, idle: zooTime, within: zooTime, want: session.OutcomeIdle},
	{name: "closes everything", script: `hello; for fd in $(ls /proc/self/fd); do [ $fd -gt 2 ] && eval "exec $fd>&-"; done; (sleeps) & bye`, want: session.OutcomeOK},

	{name: "one long line", script: `hello; head -c 100000000 /dev/zero | tr '\0' a; echo; bye`, want: session.OutcomeOK},
	{name: "one long line of JSON", script: `hello; printf '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"'; head -c 30000000 /dev/zero | tr '\0' a; echo '"}]}}'; bye`, want: session.OutcomeOK},
	{name: "a flood", script: `hello; yes "$(say 1)" | head -c 60000000; echo; bye`, want: session.OutcomeOK},
	{name: "a flood without end", script: `hello; yes "$(say 1)"`, timeout: zooTime, within: zooTime, want: session.OutcomeTimeout},
	{name: "a flood of errors", script: `hello; yes "warning: all is lost" | head -c 60000000 >&2; bye`, want: session.OutcomeOK},
	{name: "binary", script: `hello; head -c 20000000 /dev/urandom; echo; bye`, want: session.OutcomeOK},
	{name: "binary alone", script: `head -c 20000000 /dev/urandom`, want: session.OutcomeNoResult},
	{name: "zeros", script: `hello; head -c 20000000 /dev/zero; echo; bye`, want: session.OutcomeOK},
	{name: "JSON of another shape", script: `hello; echo '{"type":[],"message":7}'; echo '[[[['; echo '{"type":"assistant","message":{"content":{"text":1}}}'; echo null; bye`, want: session.OutcomeOK},
	{name: "no line feed at the end", script: `hello; printf '%s' "$(bye)"`, want: session.OutcomeOK},

	{name: "deletes its temporary directory", script: `rm -rf "$TMPDIR"; hello; bye`, want: session.OutcomeOK},
	{name: "fills its temporary directory", script: `hello; mkdir -p "$TMPDIR/a"; head -c 1000000 /dev/zero > "$TMPDIR/a/b"; chmod 0 "$TMPDIR/a"; bye`, want: session.OutcomeOK},
	{name: "deletes the result file's directory", script: `rm -rf "$(dirname "$WFS_RESULT")"; hello; bye`, want: session.OutcomeOK},
	{name: "a directory for a result", script: `rm -f "$WFS_RESULT"; mkdir "$WFS_RESULT"; hello; bye`, want: session.OutcomeOK},
	{name: "reads nothing of what it is told", script: `exec <&-; hello; bye`, want: session.OutcomeOK},
}
