package cmd

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// Help texts are as wide as the terminal, but at most maxHelpWidth columns, because longer lines are hard to read.
const (
	helpWidth    = 80 // if the terminal's width is unknown
	maxHelpWidth = 100
)

// helpVerb is `wfs help`. It also prints the help of every command.
type helpVerb struct {
	*app
	all bool
}

func (a *helpVerb) width() int {
	if a.env.Width > 0 {
		return min(a.env.Width, maxHelpWidth)
	}
	return helpWidth
}

// help prints the help text of a command or topic.
func (a *helpVerb) help(c *cobra.Command, _ []string) {
	a.sayHelp(c, helpText(c, a.width()))
}

func (a *helpVerb) sayHelp(c *cobra.Command, text string) {
	text = strings.TrimRight(text, "\n")
	if a.json {
		_ = a.answer(helpJSON{jsonVersion, c.CommandPath(), text}) // an error means that the reader has closed the pipe
		return
	}
	a.out("%s", text)
}

type helpJSON struct {
	Version int    `json:"version"`
	Command string `json:"command"`
	Help    string `json:"help"`
}

func helpText(c *cobra.Command, width int) string {
	if !c.HasParent() {
		return mainHelp + mainMore
	}
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s\n", title, text)
		}
	}
	for i, p := range paragraphs(c.Long) {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(p.wrapped(width) + "\n")
	}
	if c.IsAdditionalHelpTopicCommand() {
		return b.String()
	}
	section("Usage", usageLines(c))
	if len(c.Aliases) > 0 {
		section("Also", "  "+c.CommandPath()[:len(c.CommandPath())-len(c.Name())]+strings.Join(c.Aliases, ", "))
	}
	section("Examples", c.Example)
	section("Commands", commandList(c, width))
	section("Flags", c.LocalNonPersistentFlags().FlagUsagesWrapped(width))
	section("Flags of every command", c.InheritedFlags().FlagUsagesWrapped(width))
	return b.String()
}

// helpAll returns the help text of wfs with everything that mainHelp leaves out: further commands, flags and topics.
func helpAll(root *cobra.Command, width int) string {
	more, topics := besideMain(root)
	return mainHelp + "\nMore commands\n" + withShort(more, width) +
		"\nFlags of every command\n" + root.PersistentFlags().FlagUsagesWrapped(width) +
		"\nTopics\n" + withShort(topics, width) + "\nwfs help COMMAND   examples, flags\n"
}

// besideMain returns the commands that mainHelp does not name, and the topics.
func besideMain(root *cobra.Command) (more, topics []*cobra.Command) {
	for _, c := range root.Commands() {
		switch {
		case c.IsAdditionalHelpTopicCommand():
			topics = append(topics, c)
		case c.IsAvailableCommand() && !regexp.MustCompile(`(?m)^  ([a-z]+, )*`+c.Name()+`\b`).MatchString(mainHelp):
			more = append(more, c)
		}
	}
	return more, topics
}

// usageLines returns the forms in which the user can call a command, one a line.
func usageLines(c *cobra.Command) string {
	var lines []string
	if c.Runnable() && !(c.HasParent() && c.HasAvailableSubCommands()) { // a parent command alone only prints this help
		lines = append(lines, "  "+c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		lines = append(lines, "  "+c.CommandPath()+" COMMAND")
	}
	return strings.Join(lines, "\n")
}

func commandList(c *cobra.Command, width int) string {
	var list []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			list = append(list, sub)
		}
	}
	return withShort(list, width)
}

// withShort returns a list of commands, one a line, each with its short description.
func withShort(list []*cobra.Command, width int) string {
	var b strings.Builder
	longest := 10
	for _, c := range list {
		longest = max(longest, len(c.Name()))
	}
	indent := strings.Repeat(" ", longest+4)
	for _, c := range list {
		text := paragraph{text: c.Short}.wrapped(max(width-len(indent), 20))
		fmt.Fprintf(&b, "  %-*s  %s\n", longest, c.Name(), strings.ReplaceAll(text, "\n", "\n"+indent))
	}
	return b.String()
}

// paragraph is a part of a longer text. If it is `fixed`, its lines are printed as they are; otherwise they are
// wrapped.
type paragraph struct {
	text  string
	fixed bool
}

// paragraphs splits a text at empty lines. A paragraph that contains indented lines is fixed.
func paragraphs(text string) []paragraph {
	var list []paragraph
	for _, p := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		fixed := strings.HasPrefix(p, " ") || strings.Contains(p, "\n  ")
		if !fixed {
			p = strings.Join(strings.Fields(p), " ")
		}
		list = append(list, paragraph{p, fixed})
	}
	return list
}

func (p paragraph) wrapped(width int) string {
	if p.fixed {
		return p.text
	}
	var b strings.Builder
	left := width
	for i, word := range strings.Fields(p.text) {
		n := safetext.Width(word)
		switch {
		case i == 0:
		case n+1 > left:
			b.WriteString("\n")
			left = width
		default:
			b.WriteString(" ")
			left--
		}
		b.WriteString(word)
		left -= n
	}
	return b.String()
}

func (a *helpVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "help [COMMAND | TOPIC]", Short: "help for a command or a topic",
		Long:    "Help prints the help of a command, as its flag --help does, or of a topic. --all lists every command.",
		Example: "  wfs help run\n  wfs help --all\n  wfs help workflow check\n  wfs help exit-codes",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			above, _, err := c.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var list []cobra.Completion
			for _, sub := range above.Commands() {
				if sub.Hidden {
					continue
				}
				list = append(list, described(sub.Name(), sub.Short))
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if a.all && len(args) == 0 {
				a.sayHelp(c.Root(), helpAll(c.Root(), a.width()))
				return nil
			}
			at, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				e := usage("wfs help", "no command or topic %q", first(rest))
				var names []string
				for _, sub := range at.Commands() {
					names = append(names, sub.Name())
				}
				if near := spelling.Suggest(first(rest), names); near != "" {
					e.Hint = strings.Replace(at.CommandPath(), "wfs", "wfs help", 1) + " " + near
				}
				return e
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
	c.Flags().BoolVar(&a.all, "all", false, "list every command")
	return c
}
