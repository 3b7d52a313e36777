package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/tokens"
)

// requestFlags adds a flag for every parameter of a request that has one, and those of rerankers.
func (c *cli) requestFlags(cmd *cobra.Command, opt *retrieveOptions) {
	c.paramFlags(cmd)
	cmd.Flags().Lookup("summary-cap").Usage += " (" + summaryCapEnv + ")"
	marksFlag(cmd, &opt.marks)
	opt.rerank.add(cmd)
}

// paramFlags adds the flags of the named parameters, without names of all.
func (c *cli) paramFlags(cmd *cobra.Command, names ...string) {
	f := cmd.Flags()
	for _, p := range retrieve.Params() {
		if p.Flag == "" || len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		switch p.Kind {
		case retrieve.ParamText, retrieve.ParamMoment:
			f.String(p.Flag, p.Usual, p.Doc)
		case retrieve.ParamTexts, retrieve.ParamObject:
			f.StringArray(p.Flag, nil, p.Doc)
		case retrieve.ParamWords:
			f.StringSlice(p.Flag, nil, p.Doc)
		case retrieve.ParamNumber:
			n, _ := strconv.Atoi(p.Usual) // 0 where there is no usual one
			f.Int(p.Flag, n, p.Doc)
		case retrieve.ParamShare:
			x, _ := strconv.ParseFloat(p.Usual, 64)
			f.Float64(p.Flag, x, p.Doc)
		case retrieve.ParamTruth:
			f.Bool(p.Flag, false, p.Doc)
		}
		if p.Kind == retrieve.ParamText && p.Words != nil {
			c.completeBy(cmd, p.Flag, cobra.FixedCompletions(p.Words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// setByFlags sets the parameters of a request whose flags were given.
func setByFlags(f *pflag.FlagSet, r *retrieve.Request) error {
	for _, p := range retrieve.Params() {
		if p.Flag == "" || !f.Changed(p.Flag) {
			continue
		}
		v, err := flagMember(f, p)
		if err == nil {
			err = r.SetMember(p.Member, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flagMember returns the value of a flag as the member of a request that it stands for.
func flagMember(f *pflag.FlagSet, p retrieve.Param) (v ipld.Value, err error) {
	switch p.Kind {
	case retrieve.ParamText:
		s, err := f.GetString(p.Flag)
		if s == "" && len(p.Words) > 0 {
			return v, usagef("--%s: want %s", p.Flag, p.Choice())
		}
		return ipld.StringValue(s), err
	case retrieve.ParamMoment:
		s, err := f.GetString(p.Flag)
		return ipld.StringValue(s), err
	case retrieve.ParamTexts, retrieve.ParamWords:
		return stringsValue(flagList(f, p.Flag)), nil
	case retrieve.ParamNumber:
		n, err := f.GetInt(p.Flag)
		return ipld.IntValue(int64(n)), err
	case retrieve.ParamShare:
		x, err := f.GetFloat64(p.Flag)
		return ipld.FloatValue(x), err
	case retrieve.ParamTruth:
		yes, err := f.GetBool(p.Flag)
		return ipld.BoolValue(yes), err
	case retrieve.ParamObject:
		return weightsValue(f.Lookup(p.Flag), flagList(f, p.Flag))
	}
	return v, fmt.Errorf("--%s: a parameter of an unknown kind", p.Flag)
}

// flagList returns the values of a flag that may be given more than once. GetStringArray would lose an
// empty one that is alone.
func flagList(f *pflag.FlagSet, name string) []string {
	if list, ok := f.Lookup(name).Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return nil
}

func stringsValue(list []string) ipld.Value {
	items := make([]ipld.Value, len(list))
	for i, s := range list {
		items[i] = ipld.StringValue(s)
	}
	return ipld.ListValue(items...)
}

// weightsValue reads values of the form NAME=W as the members of an object: W is what comes after the
// last "=". One that is there twice is left to who reads the object.
func weightsValue(flag *pflag.Flag, values []string) (ipld.Value, error) {
	form, _ := pflag.UnquoteUsage(flag)
	var entries []ipld.Entry
	for _, s := range values {
		at := strings.LastIndexByte(s, '=')
		if at < 1 {
			return ipld.Value{}, usagef("--%s %q: want %s", flag.Name, s, form)
		}
		w, err := ipld.ParseJSON([]byte(s[at+1:]))
		if err != nil {
			return ipld.Value{}, usagef("--%s %q: %q is not a number", flag.Name, s, s[at+1:])
		}
		entries = append(entries, ipld.Entry{Key: s[:at], Value: w})
	}
	return ipld.MapValue(entries...), nil
}

// counters are the token counters that requests may name. Nothing is loaded until one is used.
func counters() retrieve.Counters {
	out := retrieve.Counters{}
	for name, count := range tokens.Counters() {
		out[name] = count
	}
	return out
}
