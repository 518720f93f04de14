// typecheck type-checks packages and their tests for other systems, from source: nothing is compiled, neither here nor of the
// standard library, which is most of what `go vet` would spend there.
//
//	typecheck GOOS... (in the directory of a module)
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	bad := false
	for _, system := range os.Args[1:] {
		found, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
				packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
			Tests: true,
			Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			fmt.Fprintln(os.Stderr, system, err)
			os.Exit(1)
		}
		if len(found) == 0 {
			fmt.Fprintln(os.Stderr, system, "no packages")
			os.Exit(1)
		}
		bad = packages.PrintErrors(found) > 0 || bad
	}
	if bad {
		os.Exit(1)
	}
}
