package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/retrieve"
)

// recordFormat is the version of the records that this program writes.
const recordFormat = 1

type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Format   int    `json:"format"`
	Ranking  int    `json:"ranking"`
	Analyser int    `json:"analyser"`
}

func (c *cli) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		GroupID: groupStart,
		Short:   "Print the versions of the program and of what it writes",
		Long: "Print the version of the program and of Go, and those of the record format, of ranking\n" +
			"and of text analysis: the same numbers give the same bytes.",
		Example: "  mnem version\n  mnem version --json",
		Args:    cobra.NoArgs,
	}
	return c.command(cmd, func(*cobra.Command, []string) error {
		v := versions()
		if c.global.json {
			return c.printJSON(v)
		}
		text := "mnem " + v.Version
		if v.Revision != "" {
			text += " (" + v.Revision + ")"
		}
		return c.printf("%s\n%s %s, record format %d, ranking %d, text analysis %d\n", text, v.Go,
			v.Platform, v.Format, v.Ranking, v.Analyser)
	})
}

func versions() versionJSON {
	v := versionJSON{
		Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Format: recordFormat, Ranking: retrieve.RankingVersion, Analyser: retrieve.AnalyserVersion,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return v
}
