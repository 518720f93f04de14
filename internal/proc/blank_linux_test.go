package proc

import (
	"os"
	"os/exec"
	"testing"
)

// A process without an environment may be in the middle of an exec; only then a sweep must wait.
func TestBlankIsWhoShowsNoEnvironment(t *testing.T) {
	start := func(env ...string) *exec.Cmd {
		c := exec.Command("cat") // killed below
		c.Env = append([]string{}, env...)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// Its answer shows that it runs: shortly after its start the system has no environment to show.
		if _, err := in.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		return c
	}
	marked, other, empty := start("MARK=1"), start("A=b"), start()
	for name, want := range map[*exec.Cmd][2]bool{marked: {true, true}, other: {false, true}, empty: {false, false}} {
		if has, shown := carries(name.Process.Pid, "MARK=1"); has != want[0] || shown != want[1] {
			t.Errorf("%q: has it %t, shows it %t", name.Env, has, shown)
		}
	}
	self, ok := readStat(os.Getpid())
	if !ok || self.kernel || self.dead || self.parent != os.Getppid() || self.began == 0 {
		t.Errorf("this process: %+v, %t", self, ok)
	}
	if st, ok := readStat(2); ok && st.parent == 0 && !st.kernel { // a kernel thread, if visible
		t.Errorf("process 2: %+v", st)
	}
	if _, ok := readStat(1 << 30); ok {
		t.Error("there is no such process")
	}
}
