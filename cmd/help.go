package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
)

// Help is set for the width of the terminal, but for lines longer than people like to read.
const (
	helpWidth    = 80 // where the terminal does not say
	maxHelpWidth = 100
)

// help prints what is to be known of a command, or of a topic.
func (a *app) help(c *cobra.Command, _ []string) {
	width := helpWidth
	if a.env.Width > 0 {
		width = min(a.env.Width, maxHelpWidth)
	}
	text := strings.TrimRight(helpText(c, width), "\n")
	if a.json {
		_ = a.answer(helpJSON{jsonVersion, c.CommandPath(), text}) // nobody is there to read of a closed pipe
		return
	}
	a.out("%s", text)
}

// helpJSON is what is to be known of a command, or of a topic.
type helpJSON struct {
	Version int    `json:"version"`
	Command string `json:"command"`
	Help    string `json:"help"`
}

func helpText(c *cobra.Command, width int) string {
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
	for _, g := range c.Groups() {
		section(strings.TrimSuffix(g.Title, ":"), commandList(c, g.ID, width))
	}
	section("Commands", commandList(c, "", width)) // that are in no group
	section("Flags", c.LocalNonPersistentFlags().FlagUsagesWrapped(width))
	if c.HasParent() {
		section("Flags of every command", c.InheritedFlags().FlagUsagesWrapped(width))
		return b.String()
	}
	section("Flags of every command", c.PersistentFlags().FlagUsagesWrapped(width))
	section("Topics", topicList(c, width))
	b.WriteString("\nMore about one: wfs help COMMAND, or wfs help TOPIC\n")
	return b.String()
}

// usageLines are the ways in which a command can be called.
func usageLines(c *cobra.Command) string {
	var lines []string
	if c.Runnable() && !(c.HasParent() && c.HasAvailableSubCommands()) { // which only prints this help
		lines = append(lines, "  "+c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		lines = append(lines, "  "+c.CommandPath()+" COMMAND")
	}
	return strings.Join(lines, "\n")
}

func commandList(c *cobra.Command, group string, width int) string {
	var list []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.GroupID == group && sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			list = append(list, sub)
		}
	}
	return withShort(list, width)
}

func topicList(c *cobra.Command, width int) string {
	return withShort(slices.DeleteFunc(slices.Clone(c.Commands()), func(s *cobra.Command) bool { return !s.IsAdditionalHelpTopicCommand() }), width)
}

// withShort are commands, each with one line about it, or more where that does not fit.
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

// paragraph is a piece of a long text: lines that may be broken anew, or that stand as they are.
type paragraph struct {
	text  string
	fixed bool
}

// paragraphs splits a text at empty lines. What is indented stays as it is.
func paragraphs(text string) []paragraph {
	var list []paragraph
	for _, p := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		fixed := strings.HasPrefix(p, " ")
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

func (a *app) helpCmd() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND | TOPIC]", Short: "what a command does, or about a topic",
		Long:    "Help tells about a command, as its flag --help does, or about a topic.",
		Example: "  wfs help run\n  wfs help workflow check\n  wfs help exit-codes",
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
			at := c.Root()
			for _, name := range args {
				var names []string
				found := false
				for _, sub := range at.Commands() {
					if names = append(names, sub.Name()); !found && (sub.Name() == name || sub.HasAlias(name)) {
						at, found = sub, true
					}
				}
				if found {
					continue
				}
				e := &usageError{fmt.Sprintf("no command or topic %q", name), "wfs help"}
				if near := workflows.Suggest(name, names); near != "" {
					e.hint = strings.Replace(at.CommandPath(), "wfs", "wfs help", 1) + " " + near
				}
				return e
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}
