package redact

import "strings"

// form is what tokens of one kind look like: how they begin, and which characters follow, at least so many.
type form struct {
	prefix string
	in     set
	least  int
	most   int    // 0: any number
	kind   string // for people
	has    string // a character that must be among them; "" for none
}

// known are the forms of tokens, as those who issue them document. A prefix that is a word needs more behind it.
func known() []form {
	return []form{
		// models
		{"sk-ant-", word, 20, 0, "Anthropic key", ""}, {"sk-proj-", word, 20, 0, "OpenAI key", ""},
		{"sk-svcacct-", word, 20, 0, "OpenAI key", ""}, {"sk-admin-", word, 20, 0, "OpenAI key", ""},
		{"sk-or-v1-", hex, 40, 0, "OpenRouter key", ""}, {"sk-lf-", word, 20, 0, "Langfuse key", ""},
		{"sk-", alnum, 32, 0, "API key", ""}, {"gsk_", alnum, 40, 0, "Groq key", ""}, {"xai-", alnum, 60, 0, "xAI key", ""},
		{"pplx-", alnum, 40, 0, "Perplexity key", ""}, {"hf_", alnum, 30, 0, "Hugging Face token", ""},
		{"api_org_", alnum, 30, 0, "Hugging Face token", ""}, {"r8_", alnum, 36, 0, "Replicate token", ""},
		{"tgp_v1_", word, 40, 0, "Together key", ""}, {"lsv2_pt_", word, 32, 0, "LangSmith key", ""},
		{"lsv2_sk_", word, 32, 0, "LangSmith key", ""}, {"AIza", word, 35, 0, "Google key", ""},
		{"ABSK", base64, 100, 0, "Bedrock key", ""}, {"bedrock-api-key-", word, 20, 0, "Bedrock key", ""},
		// forges and registries
		{"ghp_", alnum, 30, 0, "GitHub token", ""}, {"gho_", alnum, 30, 0, "GitHub token", ""}, {"ghu_", alnum, 30, 0, "GitHub token", ""},
		{"ghs_", alnum, 30, 0, "GitHub token", ""}, {"ghr_", alnum, 30, 0, "GitHub token", ""}, {"github_pat_", word, 22, 0, "GitHub token", ""},
		{"glpat-", dotted, 20, 0, "GitLab token", ""}, {"gldt-", word, 20, 0, "GitLab token", ""}, {"glrt-", dotted, 20, 0, "GitLab token", ""},
		{"glptt-", word, 20, 0, "GitLab token", ""}, {"glcbt-", word, 20, 0, "GitLab token", ""}, {"glft-", word, 20, 0, "GitLab token", ""},
		{"glimt-", word, 20, 0, "GitLab token", ""}, {"glagent-", word, 20, 0, "GitLab token", ""}, {"gloas-", word, 20, 0, "GitLab token", ""},
		{"glsoat-", word, 20, 0, "GitLab token", ""}, {"glffct-", word, 20, 0, "GitLab token", ""}, {"GR1348941", word, 20, 0, "GitLab token", ""},
		{"ATBB", alnum, 28, 0, "Bitbucket token", ""}, {"BBDC-", base64, 40, 0, "Bitbucket token", ""},
		{"ATATT3", base64, 100, 0, "Atlassian token", ""}, {"ATCTT3", base64, 100, 0, "Atlassian token", ""},
		{"npm_", alnum, 36, 0, "npm token", ""}, {"pypi-", word, 50, 0, "PyPI token", ""}, {"rubygems_", hex, 40, 0, "RubyGems token", ""},
		{"cio", alnum, 32, 32, "crates.io token", ""}, {"dckr_pat_", word, 20, 0, "Docker token", ""}, {"dckr_oat_", word, 20, 0, "Docker token", ""},
		{"oy2", alnum, 43, 43, "NuGet key", ""}, {"CLOJARS_", alnum, 50, 0, "Clojars token", ""}, {"AKCp", alnum, 60, 0, "Artifactory key", ""},
		{"cmVmd", alnum, 55, 0, "Artifactory token", ""}, {"sgp_", word, 40, 0, "Sourcegraph token", ""},
		// clouds
		{"AKIA", base32, 16, 16, "AWS key id", ""}, {"ASIA", base32, 16, 16, "AWS key id", ""}, {"ABIA", base32, 16, 16, "AWS key id", ""},
		{"ACCA", base32, 16, 16, "AWS key id", ""}, {"amzn.mws.", word, 30, 0, "AWS token", ""}, {"amzn1.oa2-cs.v1.", alnum, 40, 0, "Amazon secret", ""},
		{"ya29.", dotted, 20, 0, "Google token", ""}, {"GOCSPX-", word, 20, 0, "Google secret", ""}, {"1//0", word, 30, 0, "Google token", ""},
		{"LTAI", alnum, 17, 26, "Alibaba key id", ""}, {"AKID", alnum, 32, 0, "Tencent key id", ""}, {"AQVN", word, 35, 0, "Yandex key", ""},
		{"dop_v1_", hex, 40, 0, "DigitalOcean token", ""}, {"doo_v1_", hex, 40, 0, "DigitalOcean token", ""}, {"dor_v1_", hex, 40, 0, "DigitalOcean token", ""},
		{"HRKU-", word, 30, 0, "Heroku token", ""}, {"fo1_", word, 40, 0, "Fly token", ""}, {"fm1_", base64, 60, 0, "Fly token", ""},
		{"fm2_", base64, 60, 0, "Fly token", ""}, {"v1.0-", word, 100, 0, "Cloudflare key", ""}, {"tk-us-", word, 40, 0, "Scalingo token", ""},
		{"dapi", hex, 32, 0, "Databricks token", ""}, {"pscale_tkn_", dotted, 30, 0, "PlanetScale token", ""},
		{"pscale_pw_", dotted, 30, 0, "PlanetScale password", ""}, {"pscale_oauth_", dotted, 30, 0, "PlanetScale token", ""},
		{"sbp_", hex, 40, 0, "Supabase token", ""}, {"sb_secret_", word, 20, 0, "Supabase key", ""}, {"rnd_", alnum, 28, 0, "Render key", ""},
		{"nfp_", alnum, 36, 0, "Netlify token", ""}, {"pul-", hex, 40, 0, "Pulumi token", ""}, {"sha256~", word, 40, 0, "OpenShift token", ""},
		{"hvs.", word, 24, 0, "Vault token", ""}, {"hvb.", word, 60, 0, "Vault token", ""}, {"hvr.", word, 24, 0, "Vault token", ""},
		{"dp.pt.", alnum, 40, 0, "Doppler token", ""}, {"dp.st.", dotted, 40, 0, "Doppler token", ""}, {"dp.ct.", alnum, 40, 0, "Doppler token", ""},
		{"dp.sa.", alnum, 40, 0, "Doppler token", ""}, {"ops_eyJ", base64, 60, 0, "1Password token", ""},
		{"A3-", caps2, 30, 0, "1Password key", ""}, {"AGE-SECRET-KEY-1", caps, 40, 0, "age key", ""}, {"tskey-", word, 20, 0, "Tailscale key", ""},
		{"SWMTKN-1-", word, 40, 0, "Docker swarm token", ""}, {"bkua_", alnum, 36, 0, "Buildkite token", ""}, {"CCIPAT_", word, 30, 0, "CircleCI token", ""},
		{"API-", caps, 26, 0, "Octopus key", ""}, {"ico-", alnum, 32, 32, "Infracost key", ""}, {"pnu_", alnum, 36, 0, "Prefect key", ""},
		{"4b1d", alnum, 38, 38, "ClickHouse key", ""}, {"t1.", base64, 90, 0, "Yandex token", ""},
		// watching
		{"NRAK-", alnum, 27, 0, "New Relic key", ""}, {"NRII-", word, 32, 0, "New Relic key", ""}, {"glsa_", word, 40, 0, "Grafana token", ""},
		{"glc_", base64, 32, 0, "Grafana token", ""}, {"sntrys_", base64, 40, 0, "Sentry token", ""}, {"sntryu_", hex, 60, 0, "Sentry token", ""},
		{"dt0c01.", dotted, 60, 0, "Dynatrace token", ""}, {"phx_", word, 40, 0, "PostHog key", ""}, {"PMAK-", word, 50, 0, "Postman key", ""},
		// talk and mail
		{"xoxb-", word, 20, 0, "Slack token", ""}, {"xoxp-", word, 20, 0, "Slack token", ""}, {"xoxa-", word, 20, 0, "Slack token", ""},
		{"xoxr-", word, 20, 0, "Slack token", ""}, {"xoxs-", word, 20, 0, "Slack token", ""}, {"xoxo-", word, 20, 0, "Slack token", ""},
		{"xoxe-", word, 20, 0, "Slack token", ""}, {"xoxe.", dotted, 20, 0, "Slack token", ""}, {"xapp-", word, 20, 0, "Slack token", ""},
		{"hooks.slack.com/", folder, 40, 0, "Slack web hook", ""}, {"discord.com/api/webhooks/", folder, 40, 0, "Discord web hook", ""},
		{":AA", word, 33, 33, "Telegram token", ""}, {"discordapp.com/api/webhooks/", folder, 40, 0, "Discord web hook", ""}, {"webhook.office.com/", hook, 40, 0, "Teams web hook", ""},
		{"SG.", dotted, 60, 0, "SendGrid key", "."}, {"xkeysib-", word, 60, 0, "Brevo key", ""},
		{"xsmtpsib-", word, 60, 0, "Brevo key", ""}, {"SK", hexLow, 32, 32, "Twilio key", ""},
		// money
		{"sk_live_", alnum, 10, 0, "Stripe key", ""}, {"sk_test_", alnum, 10, 0, "Stripe key", ""}, {"rk_live_", alnum, 10, 0, "Stripe key", ""},
		{"rk_test_", alnum, 10, 0, "Stripe key", ""}, {"sk_prod_", alnum, 10, 0, "Stripe key", ""}, {"rk_prod_", alnum, 10, 0, "Stripe key", ""},
		{"whsec_", base64, 24, 0, "web hook secret", ""}, {"sq0atp-", word, 22, 0, "Square token", ""}, {"sq0csp-", word, 40, 0, "Square secret", ""},
		{"EAAA", word, 60, 60, "Square token", ""}, {"shpat_", hex, 32, 0, "Shopify token", ""}, {"shpca_", hex, 32, 0, "Shopify token", ""},
		{"shppa_", hex, 32, 0, "Shopify token", ""}, {"shpss_", hex, 32, 0, "Shopify secret", ""}, {"FLWSECK_TEST-", alnum, 12, 0, "Flutterwave key", ""},
		{"FLWSECK-", word, 30, 0, "Flutterwave key", ""}, {"access_token$production$", dollar, 40, 0, "PayPal token", ""},
		{"duffel_test_", word, 40, 0, "Duffel token", ""}, {"duffel_live_", word, 40, 0, "Duffel token", ""}, {"EZAK", alnum, 54, 0, "EasyPost key", ""},
		{"EZTK", alnum, 54, 0, "EasyPost key", ""}, {"shippo_live_", hex, 40, 0, "Shippo token", ""}, {"shippo_test_", hex, 40, 0, "Shippo token", ""},
		// work
		{"lin_api_", alnum, 32, 0, "Linear key", ""}, {"lin_oauth_", alnum, 32, 0, "Linear token", ""}, {"ntn_", alnum, 40, 0, "Notion token", ""},
		{"secret_", alnum, 43, 43, "Notion token", ""}, {"figd_", word, 38, 0, "Figma token", ""}, {"fio-u-", word, 60, 0, "Frame.io token", ""},
		{"CFPAT-", word, 40, 0, "Contentful token", ""}, {"rdme_", alnum, 64, 0, "ReadMe key", ""}, {"tfp_", dotted, 50, 0, "Typeform token", ""},
		{"sl.", word, 100, 0, "Dropbox token", ""}, {"EAA", alnum, 100, 0, "Facebook token", ""},
		{"pat-na1-", word, 30, 0, "HubSpot token", ""}, {"pat-eu1-", word, 30, 0, "HubSpot token", ""},
		{"eyJ", dotted, 40, 0, "JWT", "."},
	}
}

func hexLow(b byte) bool { return digit(b) || b >= 'a' && b <= 'f' }
func caps2(b byte) bool  { return caps(b) || b == '-' }
func dollar(b byte) bool { return alnum(b) || b == '$' }
func hook(b byte) bool   { return folder(b) || b == 0x40 }

// token finds a token of a known form that begins at i.
func (r *Redactor) token(s string, i int) (span, bool) {
	forms := r.tokens[s[i]]
	if len(forms) == 0 || !begins(s, i) && s[i] != ':' {
		return span{}, false
	}
	for _, f := range forms {
		if !strings.HasPrefix(s[i:], f.prefix) {
			continue
		}
		rest := s[i+len(f.prefix):]
		n := f.in.run(rest)
		if n < f.least || f.most > 0 && n > f.most || f.has != "" && !strings.Contains(rest[:n], f.has) {
			continue
		}
		if !likely(rest[:n]) && (len(f.prefix) < 5 || entropy(rest[:n]) < 2.5) {
			continue
		}
		return span{from: i, start: i, end: i + len(f.prefix) + n, mark: mark(f.kind)}, true
	}
	return span{}, false
}

// likely tells what was drawn from what was written: "sk-" and "hf_" begin words as well.
func likely(s string) bool { return entropy(s) > 2.5 && (mixed(s) || entropy(s) > 3.5) }
