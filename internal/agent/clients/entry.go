package clients

import "fmt"

// ServerCommand starts a server.
type ServerCommand struct {
	Command string
	Args    []string
}

// entryFormat writes the entry that starts the server, under a section and a name.
type entryFormat struct {
	section string
	typed   bool // whether entries have the type stdio
	tools   bool // whether entries list the tools that an agent may use: all
	toml    bool
	local   bool // whether entries have the type local, and program and arguments in one list
}

func (f entryFormat) fields(e ServerCommand) object {
	if f.local {
		return object{{"type", "local"}, {"command", append([]string{e.Command}, e.Args...)}}
	}
	fields := object{{"command", e.Command}, {"args", append([]string{}, e.Args...)}}
	if f.typed {
		fields = append(object{{"type", "stdio"}}, fields...)
	}
	if f.tools {
		fields = append(fields, object{{"tools", []string{"*"}}}...)
	}
	return fields
}

func (f entryFormat) set(text []byte, s Setup) ([]byte, error) {
	if f.toml {
		return setTOML(text, f.section, s.Name, f.fields(s.Entry))
	}
	return setJSON(text, f.section, s.Name, f.fields(s.Entry))
}

func (f entryFormat) remove(text, before []byte, s Setup) ([]byte, error) {
	if f.toml {
		return removeTOML(text, f.section, s.Name)
	}
	return removeJSON(text, before, f.section, s.Name)
}

// entry returns the entry of a name in a text, nil for no file.
func (f entryFormat) entry(text []byte, name string) (e ServerCommand, ok bool, err error) {
	var all map[string]any
	if f.toml {
		all, err = parseTOML(text)
	} else {
		all, err = plainJSON(text)
	}
	if err != nil {
		return e, false, err
	}
	sec, _ := all[f.section].(map[string]any)
	got, ok := sec[name].(map[string]any)
	args, _ := got["args"].([]any)
	e.Command, _ = got["command"].(string)
	if list, _ := got["command"].([]any); f.local && len(list) > 0 {
		e.Command, _ = list[0].(string)
		args = list[1:]
	}
	for _, a := range args {
		s, _ := a.(string)
		e.Args = append(e.Args, s)
	}
	return e, ok, nil
}

// setJSON returns a file with an entry under section and name. What else the entry has stays.
func setJSON(text []byte, section, name string, fields object) ([]byte, error) {
	before, err := plainJSON(text)
	if err != nil {
		return nil, err
	}
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	out := text
	if root.at(section, name) == nil {
		out, err = addJSON(text, []string{section}, name, fields)
	} else {
		out, err = setMembers(text, []string{section, name}, fields)
	}
	if err != nil {
		return nil, err
	}
	after, err := plainJSON(out)
	if err != nil {
		return nil, fmt.Errorf("the edit would break the file: %w", err)
	}
	return out, onlyEntry(before, after, section, name, fields)
}

// removeJSON returns a file without the entry under section and name, and without the section if it
// had nothing else, unless before has it: the file before the first edit, nil for none.
func removeJSON(text, before []byte, section, name string) ([]byte, error) {
	was, err := plainJSON(text)
	if err != nil {
		return nil, err
	}
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	i := root.at(section).find(name)
	if i < 0 {
		return text, nil
	}
	out, err := dropJSON(text, before, []string{section}, i)
	if err != nil {
		return nil, err
	}
	after, err := plainJSON(out)
	if err != nil {
		return nil, fmt.Errorf("the edit would break the file: %w", err)
	}
	return out, onlyEntry(was, after, section, name, nil)
}
