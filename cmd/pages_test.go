package cmd

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The pages of commands in the repository. They are generated from the tree of commands by
//
//	UPDATE_PAGES=1 go test ./cmd -run TestPages
const (
	cliPage = "../docs/cli.md"
	manDir  = "../docs/man"
)

const pagesUpdate = "UPDATE_PAGES=1 go test ./cmd -run TestPages"

// everyCommand lists the tree: each command before its subcommands, topics last.
func everyCommand(root *cobra.Command) (commands, topics []*cobra.Command) {
	if !root.HasParent() {
		root.InitDefaultHelpCmd()
	}
	root.InitDefaultHelpFlag()
	for _, c := range root.Commands() {
		if c.Hidden {
			continue
		}
		if c.IsAdditionalHelpTopicCommand() {
			topics = append(topics, c)
			continue
		}
		below, _ := everyCommand(c)
		commands = append(commands, below...)
	}
	return append([]*cobra.Command{root}, commands...), topics
}

// TestPages fails when docs/cli.md and docs/man do not match the tree of commands.
func TestPages(t *testing.T) {
	commands, topics := everyCommand((&app{}).root())
	want := map[string]string{cliPage: markdownPages(commands, topics), filepath.Join(manDir, "git-wfs.1"): ".so man1/wfs.1\n"}
	for _, c := range append(commands, topics...) {
		want[filepath.Join(manDir, pageName(c)+".1")] = manPage(c)
	}
	have := map[string]string{}
	files, err := filepath.Glob(filepath.Join(manDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, cliPage) {
		data, err := os.ReadFile(f)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		have[f] = string(data)
	}
	if maps.Equal(have, want) {
		return
	}
	if os.Getenv("UPDATE_PAGES") == "" {
		t.Fatalf("docs/cli.md and docs/man are not what the commands say of themselves; write them anew:\n\n\t%s\n\n%s", pagesUpdate, changed(have, want))
	}
	if err := os.RemoveAll(manDir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(manDir, 0o777); err != nil {
		t.Fatal(err)
	}
	for f, text := range want {
		if err := os.WriteFile(f, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func changed(have, want map[string]string) string {
	var names []string
	for _, f := range slices.Sorted(maps.Keys(want)) {
		if have[f] != want[f] {
			names = append(names, filepath.Base(f))
		}
	}
	for _, f := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[f]; !ok {
			names = append(names, filepath.Base(f)+" (of no command)")
		}
	}
	return strings.Join(names, " ")
}

// pageName is the name of a command's man page, such as "wfs-workflow-show".
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// markdownPages is one page with all commands.
func markdownPages(commands, topics []*cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nWritten by `" + pagesUpdate + "`; docs/man has the same as man pages.\n\n```\n" + mainHelp + "```\n\nFlags of every command:\n\n```\n" +
		commands[0].PersistentFlags().FlagUsagesWrapped(100) + "```\n")
	for _, c := range append(commands[1:], topics...) {
		b.WriteString("\n" + markdownPage(c))
	}
	return b.String()
}

func markdownPage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s.\n", c.CommandPath(), upperFirst(c.Short))
	for _, p := range paragraphs(c.Long) {
		b.WriteString("\n")
		if p.fixed {
			b.WriteString("```\n" + p.text + "\n```\n")
		} else {
			b.WriteString(markdownSafe(p.wrapped(120)) + "\n")
		}
	}
	if c.IsAdditionalHelpTopicCommand() {
		return b.String()
	}
	var code []string
	for _, text := range []string{usageLines(c), c.Example, c.LocalNonPersistentFlags().FlagUsagesWrapped(100)} {
		if text = strings.TrimRight(text, "\n"); text != "" {
			code = append(code, text)
		}
	}
	b.WriteString("\n```\n" + strings.Join(code, "\n\n") + "\n```\n")
	return b.String()
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func markdownSafe(s string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
}

// related lists the parent command and the subcommands.
func related(c *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	if c.HasParent() {
		list = append(list, c.Parent())
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden && c.HasParent() || sub.IsAdditionalHelpTopicCommand() || sub.IsAvailableCommand() {
			list = append(list, sub)
		}
	}
	return list
}

// manPage is the man page of a command, without date and version, so that the same commands give the same page.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"wfs\" \"wfs\"\n.nh\n.ad l\n.SH NAME\n%s \\- %s\n", strings.ToUpper(pageName(c)), manSafe(pageName(c)), manSafe(c.Short))
	verbatim := func(text string) { b.WriteString(".nf\n" + manSafe(strings.TrimRight(text, "\n")) + "\n.fi\n") }
	if !c.IsAdditionalHelpTopicCommand() {
		b.WriteString(".SH SYNOPSIS\n")
		verbatim(strings.ReplaceAll("\n"+usageLines(c), "\n  ", "\n")[1:])
	}
	b.WriteString(".SH DESCRIPTION\n")
	for i, p := range paragraphs(c.Long) {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if p.fixed {
			verbatim(p.text)
		} else {
			b.WriteString(manSafe(p.wrapped(100)) + "\n")
		}
	}
	options := func(title string, flags *pflag.FlagSet) {
		if !flags.HasAvailableFlags() {
			return
		}
		b.WriteString(".SH " + title + "\n")
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			name, usage := pflag.UnquoteUsage(f)
			short := ""
			if f.Shorthand != "" {
				short = `\fB\-` + f.Shorthand + `\fR, `
			}
			value := ""
			if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" && f.DefValue != "[]" {
				usage += " (default " + f.DefValue + ")"
			}
			if name != "" {
				value = ` \fI` + manSafe(name) + `\fR`
			}
			fmt.Fprintf(&b, ".TP\n%s\\fB\\-\\-%s\\fR%s\n%s\n", short, manSafe(f.Name), value, manSafe(usage))
		})
	}
	if !c.IsAdditionalHelpTopicCommand() {
		options("OPTIONS", c.LocalNonPersistentFlags())
		if c.HasParent() {
			options("OPTIONS OF EVERY COMMAND", c.InheritedFlags())
		} else {
			options("OPTIONS OF EVERY COMMAND", c.PersistentFlags())
		}
		b.WriteString(".SH EXAMPLES\n")
		verbatim(c.Example)
	}
	var others []string
	for _, other := range related(c) {
		others = append(others, `\fB`+manSafe(pageName(other))+`\fR(1)`)
	}
	b.WriteString(".SH SEE ALSO\n" + strings.Join(others, ", ") + "\n")
	return b.String()
}

// manSafe escapes text for troff.
func manSafe(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`").Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// TestHelp checks that every command has a help text, and examples that parse.
func TestHelp(t *testing.T) {
	commands, topics := everyCommand((&app{}).root())
	for _, c := range append(commands, topics...) {
		if c.Short == "" || c.Long == "" {
			t.Errorf("%s: no Short, or no Long", c.CommandPath())
		}
		if strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: Short ends in a full stop", c.CommandPath())
		}
	}
	for _, c := range commands {
		if strings.TrimSpace(c.Example) == "" {
			t.Errorf("%s: no Example", c.CommandPath())
			continue
		}
		own := false
		for _, line := range strings.Split(c.Example, "\n") {
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: an example is not indented by two spaces: %q", c.CommandPath(), line)
			}
			path, err := tryExample(line)
			if err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), line, err)
			}
			own = own || path == c.CommandPath()
		}
		if !own && !c.HasSubCommands() {
			t.Errorf("%s: no example is of the command itself", c.CommandPath())
		}
	}
}

// tryExample parses a line of an example as wfs would, and returns the command that it calls. Text after three spaces
// is an explanation; text after a pipe or a redirection, or before "--" and wfs, belongs to other programs.
func tryExample(line string) (string, error) {
	line, _, _ = strings.Cut(strings.TrimSpace(line), "   ")
	if _, ours, given := strings.Cut(line, " -- wfs "); given {
		line = "wfs " + ours
	}
	words, err := shellWords(line)
	if err != nil {
		return "", err
	}
	at := slices.Index(words, "wfs")
	if at < 0 {
		return "", fmt.Errorf("it does not call wfs")
	}
	words = words[at+1:]
	if end := slices.IndexFunc(words, func(w string) bool { return w == "|" || w == ">" || w == "&&" || w == ")" }); end >= 0 {
		words = words[:end]
	}
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(words)
	if err != nil {
		return "", err
	}
	if err := c.ParseFlags(rest); err != nil {
		return "", err
	}
	earlier := ""
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Hidden {
			earlier = "--" + f.Name
		}
	})
	if c.Hidden || earlier != "" {
		return "", fmt.Errorf("%s %s is an earlier spelling", c.CommandPath(), earlier)
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return "", err
	}
	return c.CommandPath(), c.ValidateRequiredFlags()
}

// shellWords splits a line as a shell does, as far as examples need it: quotes, and $( ) around a command.
func shellWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	began := false
	end := func() {
		if began {
			words = append(words, word.String())
		}
		word.Reset()
		began = false
	}
	for _, r := range strings.NewReplacer(`"$(`, " ", "$(", " ", `)"`, " ) ").Replace(line) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, began = r, true
		case r == ' ':
			end()
		default:
			word.WriteRune(r)
			began = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is not closed")
	}
	end()
	return words, nil
}
