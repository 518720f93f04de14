// Command wfs runs coding agents through workflows and keeps every attempt in Git.
package main

import (
	"os"

	"github.com/wfs-dev/wfs/cmd"
)

func main() { os.Exit(cmd.Main(cmd.System())) }
