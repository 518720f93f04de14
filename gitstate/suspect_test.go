package gitstate

import (
	"os"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// keyCases are files by name and content, and whether they are held out. The secrets are assembled here, so that no
// scanner reports this file.
func keyCases() (cases []struct {
	name, content string
	held          bool
}) {
	const random = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
	const line1, line2 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
		"MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu"
	block := func(what string) string {
		return "-----BEGIN " + what + "-----\n" + line1 + "\n" + line2 + "\n-----END " + what + "-----\n"
	}
	private := " PRIVATE" + " KEY"
	pem := func(kind string) string { return block(strings.TrimSpace(kind + private)) }
	add := func(held bool, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			cases = append(cases, struct {
				name, content string
				held          bool
			}{pairs[i], pairs[i+1], held})
		}
	}
	inset := func(text, before string) string {
		return before + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+before) + "\n"
	}
	add(true,
		"server.key", pem("RSA"), "certs/tls.pem", pem(""), ".ssh/id_ed25519", pem("OPENSSH"), "id_rsa", pem("RSA"),
		"deploy_key", pem("OPENSSH"),
		"notes.txt", "hint:\n"+pem("EC"), "k8s/secret.yaml", "stringData:\n  tls.key: |\n"+inset(pem(""), "    "),
		"sa.json", `{"type":"service_account","private_key":"`+strings.ReplaceAll(pem(""), "\n", `\n`)+"\"}\n",
		"config.py", `KEY = """`+pem("RSA")+"\"\"\"\n", "win.txt", strings.ReplaceAll(pem(""), "\n", "\r\n"),
		"cut.txt", "-----BEGIN RSA"+private+"-----\n"+line1+"\n"+line2+"\n", "enc.txt", pem("ENCRYPTED"),
		"pgp.asc", "-----BEGIN PGP"+private+" BLOCK-----\n\n"+line1+"\n"+line2+"\n-----END PGP"+private+" BLOCK-----\n",
		"putty.txt", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n"+random+"\n", "my.ppk",
		"PuTTY-User-Key-File-3: ssh-ed25519\n",
		"age.txt", "# made\nAGE-SECRET-KEY-"+"1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE\n",
		".aws/credentials", "[default]\naws_access_key_id = AKIA"+"IOSFODNN7QWERTYU\naws_secret_access_key = "+random+"\n",
		"credentials", "user=x\npassword=y\n", "credentials.json", "{}\n", "src/aws.ts", `const k = "AKIA`+
			"IOSFODNN7QWERTYU\"\n",
		"tf.tfvars", `secret_key = "ASIA`+"IOSFODNN7QWERTYU\"\n", "gh.sh", "export T=ghp_"+random[:36]+"\n",
		"gh2.sh", "export T=github_pat_"+random[:22]+"_"+(random + random)[:59]+"\n", "gl.yml", "token: glpat-"+
			random[:20]+"\n",
		"slack.js", "const s='xoxb-"+"123456789012-1234567890123-"+random[:24]+"'\n",
		"hook.txt", "https://hooks.slack.com/"+"services/T01234567/B01234567/"+random[:24]+"\n",
		"openai.py", "key='sk-proj-"+random+random[:20]+"'\n", "openai-old.py", "key='sk-"+(random + random)[:48]+"'\n",
		"anthropic.toml", "key='sk-ant-"+"api03-"+random+random+"AA'\n", "stripe.rb", "Stripe.api_key='sk_live_"+
			random[:24]+"'\n",
		"google.html", "<script>key='AIza"+"Sy"+random[:33]+"'</script>\n", "npm.yml", "NPM: npm_"+random[:36]+"\n",
		".npmrc", "//registry.npmjs.org/:_authToken=abc123def\n", ".netrc", "machine x login y password z\n",
		"vault.kdbx", "\x03\x9a\x00\x01",
		"keystore.p12", "0\x82\x00", ".env", "DEBUG=1\n", ".env.production", "DEBUG=1\n",
		".pypirc", "[pypi]\npassword=pypi-"+"AgEIcHlwaS5vcmcC"+random+random+"\n", "mail.txt", "K=SG."+random[:22]+"."+
			(random + random)[:43]+"\n",
		"a.diff", inset(pem("RSA"), "+"))
	add(false,
		"tls-crt.pem", block("CERTIFICATE"), "pub.pem", block("PUBLIC KEY"), "id_rsa.pub",
		"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ me@host\n",
		"credentials.go", "package auth\n\ntype Credentials struct{ User string }\n", "id_generator.py",
		"def next_id():\n    return 1\n",
		"docs/aws.md", "Such a key looks like AKIA"+"IOSFODNN7EXAMPLE, or AKIA and 16 letters.\n", ".env.example", "KEY=\n",
		"parse.go", "package p\n\nvar head = \"-----BEGIN RSA"+private+
			"-----\"\n\nfunc parse(name string) (string, error) { return name, nil }\n",
		"sk-button.css", ".sk-button-primary-large-rounded-with-icon-left-and-right { color: red }\n")
	return cases
}

func TestSuspect(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for _, c := range keyCases() {
		r.write(c.name, c.content)
		why, rule := r.Files.Suspect(c.name)
		if (why != "") != c.held || (why == session.HoldSecret) != (rule != "") {
			t.Errorf("%s: %q %q", c.name, why, rule)
		}
	}
	if err := os.Symlink("id_rsa", r.path("link")); err != nil {
		t.Fatal(err)
	}
	if why, _ := r.Files.Suspect("link"); why != "" {
		t.Errorf("a link is held out: %q", why)
	}
}
