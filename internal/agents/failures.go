package agents

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// verdict is the result of judging a failure by its message or HTTP status.
type verdict struct {
	class Class // "": unknown
	at    int64 // when to try again, in Unix seconds; 0: not given
}

// phrases are parts of the error messages of providers and agents, in lower case, each with its class. They are
// searched in this order: first failures that need a person, then those that need a new conversation, then temporary
// ones.
var phrases = []struct {
	class Class
	any   []string
}{
	{Capped, []string{"max session turns", "maximum session turns"}},
	{Billing, []string{"credit balance", "insufficient_quota", "insufficient credit", "insufficient funds",
		"payment required",
		"billing_error", "billing hard limit", "to use codex with your chatgpt plan, upgrade"}},
	{LimitHit, []string{"usage limit", "you've hit your", "you’ve hit your", "limit reached|", "limit · resets",
		"daily quota",
		"quota will reset", "hour limit reached", "weekly limit", "exhausted your capacity"}},
	{TooLong, []string{"prompt is too long", "prompt too long", "context_length_exceeded", "context length",
		"context window",
		"maximum context", "input is too long", "input token count", "too many input tokens"}},
	{Lost, []string{"no conversation found", "no rollout found", "thread/resume failed", "session not found",
		"is already in use",
		"invalid session identifier", "no previous sessions found"}},
	{Auth, []string{"not logged in", "please run /login", "invalid api key", "invalid x-api-key", "incorrect api key",
		"api key not valid", "api_key_invalid", "authentication_failed", "authentication_error", "unauthorized",
		"oauth token",
		"token has expired", "login required", "please log in", "invalid auth method", "set an auth method",
		"missing api key",
		"provider_auth", "providerautherror"}},
	{Config, []string{"issue with the selected model", "model_not_found", "model not found", "providermodelnotfound",
		"unknown model", "does not exist or you do not have access", "requires --verbose", "cannot be used with root",
		"not inside a trusted directory", "not running in a trusted directory", "unknown option", "unexpected argument",
		"unknown argument", "invalid value", "is not supported when using codex", "is not found for api version",
		"error loading config", "error: model provider", "is not valid json(c)", "configuration is invalid at",
		"/settings.json: ",
		"invalid values:"}},
	{RateLimited, []string{"rate limit", "rate_limit", "too many requests", "resource_exhausted", "request rejected (429)",
		"quota exceeded for metric"}},
	{Overloaded, []string{"overloaded", "high demand", "at capacity", "timed out", "timeout", "internal server error",
		"bad gateway", "service unavailable", "gateway time", "stream disconnected", "connection error", "connection refused",
		"connection reset", "econnre", "enotfound", "eai_again", "etimedout", "fetch failed", "socket hang up",
		"network error",
		"empty or malformed response", "error sending request", "server_error"}},
}

func spoken(low string) Class {
	for _, p := range phrases {
		for _, s := range p.any {
			if strings.Contains(low, s) {
				return p.class
			}
		}
	}
	return ""
}

// byStatus maps HTTP statuses to classes; 500 stands for 500 and above. If a message has one of the classes in
// wordsWin, the message decides and not the status.
var (
	byStatus = map[int]Class{401: Auth, 402: Billing, 403: Auth, 404: Config, 408: Overloaded, 413: TooLong,
		429: RateLimited, 500: Overloaded}
	wordsWin = map[int][]Class{403: {Billing, LimitHit}, 404: {Lost}, 429: {Billing, LimitHit}}
)

// judge finds the class of a failure from its HTTP status (0: unknown) and its message. `now` is the time in Unix
// seconds.
func judge(status int, said string, now int64) verdict {
	low := strings.ToLower(said)
	if status == 0 {
		status = statusIn(low)
	}
	v := verdict{class: spoken(low)}
	switch class, known := byStatus[min(status, 500)]; {
	case outOfCredit(low):
		v.class = Billing
	case known && slices.Contains(wordsWin[status], v.class):
	case known:
		v.class = class
	case status >= 400 && strings.Contains(low, "tool_result") && strings.Contains(low, "tool_use"):
		v.class = Lost // the history lacks the result of a tool call, so the conversation cannot continue
	case status >= 400 && v.class == "":
		v.class = Config
	}
	if v.class == LimitHit || v.class == RateLimited || v.class == Overloaded {
		v.at = resetIn(said, time.Unix(now, 0))
	}
	return v
}

// outOfCredit reports whether a message of OpenAI says that an account has no credit. Google uses the same words for a
// quota that renews itself, but names the quota.
func outOfCredit(low string) bool {
	return strings.Contains(low, "check your plan and billing details") &&
		!strings.Contains(low, "quota exceeded for metric")
}

// telling returns the line of s that explains the failure: the first line with a phrase of class c, or the last line if
// there is none. If the line ends in a colon, or an arrow begins the next line, telling adds the next line.
func telling(s string, c Class) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		said := oneLine(line, maxMessage)
		if c == "" || spoken(strings.ToLower(said)) != c {
			continue
		}
		if i+1 < len(lines) && (strings.HasSuffix(said, ":") || strings.HasPrefix(lines[i+1], "↳")) {
			said = oneLine(said+" "+lines[i+1], maxMessage)
		}
		return said
	}
	return lastLine(s)
}

var statuses = lazy(`(?:status|code|error|http)[ :="']*([45]\d\d)(?:\D|$)|\(([45]\d\d)\)`)

// statusIn returns the HTTP status in a lower-case text, or 0: "status 401", "api error: 529", "(429)", `"code":503`.
func statusIn(low string) int {
	if found := statuses().FindStringSubmatch(low); found != nil {
		return number(found[1] + found[2])
	}
	return 0
}

// inner returns the message inside an error that is or contains JSON. If it finds none, it returns s.
func inner(s string) string {
	for _, key := range []string{`"message":`, `{"detail":`} {
		_, rest, _ := strings.Cut(s, key)
		var text string
		if json.NewDecoder(strings.NewReader(rest)).Decode(&text) == nil && text != "" {
			return text
		}
	}
	return s
}
