package agents

import (
	"testing"
	"time"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Skip(err)
	}
	return z
}

func TestResetIn(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	const nov20 = "2026-11-20T15:20:00Z"
	for _, c := range []struct{ said, now, want string }{
		// claude
		{"You've hit your 5-hour limit · resets 6:13pm (UTC)", nov20, "2026-11-20T18:13:00Z"},
		{"You've hit your 5-hour limit · resets 3:13pm (UTC)", nov20, "2026-11-21T15:13:00Z"},
		{"You've hit your 5-hour limit · resets 3:20pm (UTC)", "2026-11-20T15:20:40Z", "2026-11-20T15:20:00Z"}, // the same minute
		{"You've hit your weekly limit · resets Nov 24, 3:13pm (UTC)", nov20, "2026-11-24T15:13:00Z"},
		{"You've hit your limit · resets Nov 24 at 3pm (Europe/Berlin)", nov20, "2026-11-24T14:00:00Z"},
		{"5-hour limit reached ∙ resets 6pm", nov20, "2026-11-20T17:00:00Z"}, // the local zone
		{"Claude usage limit reached. Your limit will reset at 11am (America/New_York).", nov20, "2026-11-20T16:00:00Z"},
		{"resets 12am (UTC)", nov20, "2026-11-21T00:00:00Z"},
		{"resets 12:30pm (UTC)", nov20, "2026-11-21T12:30:00Z"},
		{"resets 3am (Asia/Kolkata)", nov20, "2026-11-20T21:30:00Z"},
		{"Claude AI usage limit reached|1795198387", nov20, "2026-11-20T18:13:07Z"},
		// the end of the year, and a stale one
		{"resets Jan 3, 3pm (UTC)", "2026-12-30T10:00:00Z", "2027-01-03T15:00:00Z"},
		{"resets 1:15am (UTC)", "2026-12-31T23:50:00Z", "2027-01-01T01:15:00Z"},
		{"resets Nov 20, 3pm (UTC)", nov20, "2026-11-20T15:00:00Z"},
		{"resets Nov 31, 3pm (UTC)", nov20, "2026-12-01T15:00:00Z"},
		// daylight saving time begins on 2026-03-29 and ends on 2026-10-25, at 1:00 UTC
		{"resets 4am (Europe/Berlin)", "2026-03-28T22:00:00Z", "2026-03-29T02:00:00Z"},
		{"resets 4am (Europe/Berlin)", "2026-10-24T22:00:00Z", "2026-10-25T03:00:00Z"},
		{"resets 9pm (Europe/Berlin)", "2026-10-24T20:00:00Z", "2026-10-25T20:00:00Z"},
		{"resets 2:30am (America/New_York)", "2026-03-08T05:00:00Z", "2026-03-08T07:30:00Z"}, // this time does not exist on that day
		// codex
		{"You've hit your usage limit. Upgrade to Pro or try again in 3 days 4 hours 5 minutes.", nov20, "2026-11-23T19:25:00Z"},
		{"You've hit your usage limit. Try again at 6:13 PM.", nov20, "2026-11-20T17:13:00Z"},
		{"You've hit your usage limit, or try again at Nov 24th, 2026 3:13 PM.", nov20, "2026-11-24T14:13:00Z"},
		{"Rate limit reached for gpt on tokens per min (TPM): Limit 30000. Please try again in 2.5s. Visit", nov20, "2026-11-20T15:20:03Z"},
		{"Please try again in 450ms.", nov20, "2026-11-20T15:20:01Z"},
		// gemini
		{"Your quota will reset after 3h20m12s.", nov20, "2026-11-20T18:40:12Z"},
		{"You exceeded your current quota. Please retry in 34.07s.", nov20, "2026-11-20T15:20:35Z"},
		// headers, and plain text
		{"try again in 3h 20m", nov20, "2026-11-20T18:40:00Z"},
		{"try again in 1 hour, 5 minutes and 2 seconds", nov20, "2026-11-20T16:25:02Z"},
		{"Retry-After: 120", nov20, "2026-11-20T15:22:00Z"},
		{`"retry-after":"1"`, nov20, "2026-11-20T15:20:01Z"},
		{"retry-after: Fri, 20 Nov 2026 16:28:00 GMT", nov20, "2026-11-20T16:28:00Z"},
		{"resets at 2026-11-24T15:13:00Z", nov20, "2026-11-24T15:13:00Z"},
		{"resets at 2026-11-24T15:13:00+01:00.", nov20, "2026-11-24T14:13:00Z"},
		{"available at 2026-11-24 15:13:00 UTC", nov20, "2026-11-24T15:13:00Z"},
		{"resets at 18:13 (UTC)", nov20, "2026-11-20T18:13:00Z"},
		{"limited until 3 more requests ended; resets 6pm (UTC)", nov20, "2026-11-20T18:00:00Z"},
		// no time to wait for
		{"This request would exceed your account's rate limit. Please try again later.", nov20, ""},
		{"resets soon", nov20, ""},
		{"resets 25:99 (UTC)", nov20, ""},
		{"try again in 90 days", nov20, ""},
		{"limit reached|1995198387", nov20, ""},
		{"try again in 99999999999999999999 hours", nov20, ""},
		{"resets ", nov20, ""},
		{"|", nov20, ""},
		{"", nov20, ""},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if at := resetIn(c.said, now.In(berlin)); at != 0 {
			got = time.Unix(at, 0).UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%q at %s: %s, want %s", c.said, c.now, got, c.want)
		}
	}
	if resetIn("resets 6pm (UTC)", time.Unix(0, 0)) != 0 {
		t.Error("a moment without a clock")
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		said   string
		want   Class
	}{
		{401, "", Auth}, {403, "", Auth}, {402, "", Billing}, {404, "", Config}, {413, "", TooLong}, {429, "", RateLimited},
		{500, "", Overloaded}, {503, "", Overloaded}, {529, "", Overloaded}, {400, "", Config}, {408, "", Overloaded},
		{400, "Your credit balance is too low to access the API", Billing},
		{400, "prompt is too long: 210000 tokens > 200000 maximum", TooLong},
		{400, "messages.3: `tool_use` ids were found without `tool_result` blocks", Lost},
		{429, "You've hit your usage limit. Try again in 2 hours", LimitHit},
		{429, "You exceeded your current quota (insufficient_quota)", Billing},
		{0, "unexpected status 401 Unauthorized: invalid x-api-key", Auth},
		{0, "exceeded retry limit, last status: 429 Too Many Requests", RateLimited},
		{0, `[API Error: {"error":{"code":503,"message":"x"}}]`, Overloaded},
		{0, "API Error: 529 {}", Overloaded},
		{0, "Your input exceeds the context window of this model.", TooLong},
		{0, "stream disconnected before completion: error sending request", Overloaded},
		{0, "dial tcp: lookup api.example.com: connection refused", Overloaded},
		{0, "Invalid API key · Please run /login", Auth},
		{0, "Claude AI usage limit reached|1795198387", LimitHit},
		{0, "error: unexpected argument '--jsom' found", Config},
		{0, "panic: runtime error", ""},
		{0, "took 401 ms, 4290 lines, error 12", ""},
		{0, "", ""},
	} {
		if v := judge(c.status, c.said, now()); v.class != c.want {
			t.Errorf("%d %q: %q, want %q", c.status, c.said, v.class, c.want)
		}
	}
}
