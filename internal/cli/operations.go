package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/retrieve"
)

// Operations returns what remote callers may ask, made from the commands: a flag is a parameter where
// the table of exposed commands declares it. It panics where the table names a command that there is
// not, which a test sees.
func Operations() []operation.Operation {
	c := &cli{app: &App{Getenv: func(string) string { return "" }}}
	root := c.root()
	shapes := shapes()
	var all []operation.Operation
	for _, e := range exposedCommands() {
		cmd, rest, err := root.Find(strings.Fields(e.command))
		if err != nil || len(rest) > 0 {
			panic(fmt.Sprintf("no command %q: %v", e.command, err))
		}
		all = append(all, operationOf(&e, cmd, shapes[cmd.CommandPath()]))
	}
	for _, v := range verbs() {
		if !v.spec.Local {
			all = append(all, v.spec.Operations()...)
		}
	}
	places := map[string]int{}
	for i, cmd := range commands() {
		places[cmd.Name] = i
	}
	slices.SortStableFunc(all, func(a, b operation.Operation) int {
		return places[a.Command[0]] - places[b.Command[0]]
	})
	return all
}

func operationOf(e *exposed, cmd *cobra.Command, shapes []string) operation.Operation {
	o := operation.Operation{
		Name:    firstOf(e.name, strings.NewReplacer(" ", "_", "-", "_").Replace(e.command)),
		Command: strings.Fields(e.command),
		Title:   firstOf(e.title, cmd.Short), Doc: paragraph(cmd.Long),
		Params: slices.Clone(e.words), Effect: e.effect,
		Idempotent: e.idempotent || e.effect == operation.Reads,
		Answer:     e.answer, Shapes: shapes,
	}
	switch {
	case o.Answer == "" && e.name == "" && streams(cmd.CommandPath()) && e.command != "remember":
		o.Answer = operation.MediaNDJSON
	case o.Answer == "":
		o.Answer = operation.MediaJSON
	}
	if e.lines != nil {
		o.Body = operation.MediaNDJSON
		o.Params = append(o.Params, *e.lines)
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if p, ok := flagParam(e, f); ok {
			o.Params = append(o.Params, p)
		}
	})
	return o
}

// flagParam returns the parameter that a flag is, if remote callers may give it.
func flagParam(e *exposed, f *pflag.Flag) (operation.Param, bool) {
	if f.Hidden || !slices.Contains(strings.Fields(e.flags), f.Name) {
		return operation.Param{}, false
	}
	_, usage := pflag.UnquoteUsage(f)
	p := operation.Param{
		Name: strings.ReplaceAll(f.Name, "-", "_"), Flag: f.Name,
		Doc: firstOf(remoteDocs[f.Name], flagDoc(usage)), Enum: flagValues(f.Name),
	}
	switch typ := f.Value.Type(); {
	case typ == "bool":
		p.Kind, p.Enum = operation.Boolean, nil
	case typ == "int":
		p.Kind = operation.Integer
	case typ == "float64":
		p.Kind = operation.Number
	case typ == "stringArray" || typ == "stringSlice":
		p.Kind = operation.Strings
	default:
		p.Kind = operation.String
	}
	if m, ok := configuredModels[f.Name]; ok {
		p.True, p.Doc = m.is, m.doc
		if p.Kind = operation.Boolean; p.Enum != nil {
			p.Kind = operation.String
		}
	}
	if slices.Contains(e.writes, f.Name) {
		p.Effect = operation.Writes
	}
	return p, true
}

// configuredModels are the flags that name a model on the command line of this machine. Remote callers
// ask for the model of the configuration alone, by true, or for what asks no model.
var configuredModels = map[string]struct{ is, doc string }{
	"embed": {modelConfigured, "use the embedding model of the configuration too"},
	"rerank": {modelConfigured, "judge the best items anew: true by the model of the configuration, " +
		"local by their words"},
	"rewrite": {retrieve.RewriteMulti, "let the model of the configuration put the query into other " +
		"words: multi, or true, or hyde for a made-up answer"},
}

// remoteDocs say what flags mean to remote callers whose help tells of files.
var remoteDocs = map[string]string{
	"base": "the REV that the changes were made against",
	"take": "with resolve: ours, theirs or base",
}

// machineNotes are what the help of flags says of this machine's environment and configuration.
var machineNotes = regexp.MustCompile(
	` \((?:MNEM_[^)]*|config: [^)]*|SOURCE_DATE_EPOCH[^)]*|repeatable)\)`,
)

func flagDoc(usage string) string { return machineNotes.ReplaceAllString(usage, "") }

// flagValues returns the values that a flag may have, nil for any. Flags of one name have the same
// values wherever they are.
func flagValues(name string) []string {
	for _, p := range retrieve.Params() {
		if p.Flag == name && p.Words != nil {
			return p.Words
		}
	}
	switch name {
	case "rerank":
		return []string{retrieve.RerankLocal}
	case "rewrite":
		return []string{"multi", "hyde"}
	case "gate":
		return []string{"lexical", "semantic", "fused"}
	case "include":
		return []string{"forgotten", "superseded", "expired", "retired"}
	case "no-link":
		return []string{"temporal", "entity", "keyword", "causal", "semantic"}
	case "take":
		return []string{"ours", "theirs", "base"}
	}
	return nil
}

// paragraph returns the first paragraph of a help text in one line.
func paragraph(long string) string {
	first, _, _ := strings.Cut(long, "\n\n")
	return strings.Join(strings.Fields(first), " ")
}
