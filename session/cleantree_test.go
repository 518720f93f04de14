package session

import "testing"

func TestLead(t *testing.T) {
	c := CleanTree{Root: "/state/clean/1/app", Live: []string{"/home/u/app", "/real/app"}}
	for in, want := range map[string]string{
		"/home/u/app":                                  "/state/clean/1/app",
		"PATH=/home/u/app/.venv/bin:/usr/bin":          "PATH=/state/clean/1/app/.venv/bin:/usr/bin",
		"PATH=/usr/bin:/real/app/bin":                  "PATH=/usr/bin:/state/clean/1/app/bin",
		"/home/u/app-2/x":                              "/home/u/app-2/x",
		"/home/u/application":                          "/home/u/application",
		"/mnt/home/u/app":                              "/mnt/home/u/app",
		"file:///home/u/app/src":                       "file:///state/clean/1/app/src",
		"#!/home/u/app/.venv/bin/python\n/real/app\n":  "#!/state/clean/1/app/.venv/bin/python\n/state/clean/1/app\n",
		"/home/u/app/.git/wfs/report.xml":              "/home/u/app/.git/wfs/report.xml",
		"MAPPING = {'p': '/home/u/app/src/p'}":         "MAPPING = {'p': '/state/clean/1/app/src/p'}",
		"/home/u/app.old /home/u/app /home/u/app/.git": "/home/u/app.old /state/clean/1/app /home/u/app/.git",
	} {
		if got := c.Lead(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if c.Names(c.Lead(in)) {
			t.Errorf("%q still names the work tree", c.Lead(in))
		}
	}
}
