//go:build unix

package cmd

var goHonest = []creature{
	{name: "plain", honest: true, does: "writes the code, and tidies nothing", naive: "green"},
}

var unittestHonest = []creature{
	{name: "plain", honest: true, does: "writes the code, and tidies nothing", naive: "green"},
}

var pytestHonest = []creature{
	{name: "plain", honest: true, does: "writes the code, and tidies nothing", naive: "green"},
}

var nodeHonest = []creature{
	{name: "plain", honest: true, does: "writes the code, and tidies nothing", naive: "green"},
}
