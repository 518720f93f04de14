package agents

import (
	"slices"
	"strings"
)

// End concludes: from the last result first, from how the process ended second, from what it wrote to its standard error
// last. Neither the subtype of a result nor the exit code is a verdict: a failed request is a "success", and an
// interrupted run may end with 0.
func (c *claude) End(e Exit) Outcome {
	c.end()
	c.out.Spent = add(c.spent, c.pending)
	if c.turns > 0 {
		c.out.Turns = c.turns
	}
	c.out.Class = OK
	switch {
	case c.results > 0 && !c.busy:
		c.concluded(e)
	case c.fatal == "" && c.problem != "":
		c.failure(0, c.problem, c.told)
	case c.fatal == "" && c.rejected.Status != "" && !e.Stopped:
		c.fail(LimitHit, "the "+c.rejected.Window+" limit is reached")
		c.out.RetryAt = c.rejected.ResetsAt
	case c.stopped:
		c.fail(Interrupted, "")
	default:
		c.ended(e)
	}
	return c.out
}

// concluded reads the last result.
func (c *claude) concluded(e Exit) {
	r := c.result
	said := r.Result
	if said == "" && len(r.Errors) > 0 {
		said = strings.Join(r.Errors, "; ")
	}
	switch r.Reason {
	case "max_turns", "budget_exhausted":
		c.fail(Capped, said)
		return
	case "prompt_too_long", "blocking_limit", "rapid_refill_breaker":
		c.fail(TooLong, said)
		return
	case "aborted_streaming", "aborted_tools":
		c.fail(Interrupted, "")
		return
	case "turn_setup_failed":
		c.fail(Config, said)
		return
	case "structured_output_retry_exhausted":
		c.fail(NoResult, said)
		return
	}
	switch {
	case r.Subtype == "error_max_turns" || r.Subtype == "error_max_budget_usd":
		c.fail(Capped, said)
	case r.Subtype == "error_max_structured_output_retries":
		c.fail(NoResult, said)
	case r.IsError && c.fatal != "":
		c.fail(c.fatal, said)
	case r.IsError && e.Stopped && r.Status == 0 && c.problem == "":
		c.fail(Interrupted, "")
	case r.IsError:
		c.failure(r.Status, c.problem, said)
	case r.Stop == "refusal":
		c.fail(Refused, said)
	case len(c.out.Denials) > 0:
		c.fail(Denied, "not permitted: "+names(c.out.Denials))
	}
}

// failure finds the class of a failed request by the status of HTTP, by claude's word for it, and by what it says.
func (c *claude) failure(status int, word, said string) {
	v := judge(status, said, c.o.Now())
	if c.rejected.Status != "" && (status == 429 || word == "rate_limit" || v.class == LimitHit) {
		v = verdict{LimitHit, c.rejected.ResetsAt}
	}
	if own := claudeWord(word); v.class == "" || own == Auth || own == Billing {
		v.class = own
	}
	if v.class == "" {
		v.class = Crashed
	}
	c.fail(v.class, said)
	c.out.RetryAt = v.at
}

// claudeWord is the class of what claude calls a failed request.
func claudeWord(word string) Class {
	switch word {
	case "authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error":
		return Auth
	case "billing_error":
		return Billing
	case "rate_limit":
		return RateLimited
	case "overloaded", "server_error", "unknown":
		return Overloaded
	case "invalid_request", "model_not_found":
		return Config
	}
	return "" // max_output_tokens is the agent's own failure
}

// names lists the tools of calls, each once.
func names(tools []Tool) string {
	var list []string
	for _, t := range tools {
		if !slices.Contains(list, t.Name) {
			list = append(list, t.Name)
		}
	}
	return strings.Join(list, ", ")
}
