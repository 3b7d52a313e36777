package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// deployed is a server as one of the files in deploy has it run.
type deployed struct {
	file, name string
	args       []string
	env        map[string]string
	ports      []string // in the container, that are published or named
	probes     []string // URLs on 127.0.0.1
}

// otherVariables are set by files in deploy but not read by mnem itself.
var otherVariables = []string{"PGPASSWORD", "GOMEMLIMIT", "XDG_DATA_HOME", "XDG_CONFIG_HOME"}

// documents returns what a file in deploy has.
func documents(t *testing.T, file string) (all []any) {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader(must.Get(os.ReadFile(filepath.Join("..", "..", "..", "deploy", file)))(t)))
	for {
		var doc any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all
		}
		must.OK(t, err, file)
		all = append(all, doc)
	}
}

// at returns what a path of names leads to in a document, nil for nothing. list, texts and pairs are at for what is a
// list or an object.
func at(doc any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		m, _ := doc.(map[string]any)
		doc = m[name]
	}
	return doc
}

func list(doc any, path string) []any {
	all, _ := at(doc, path).([]any)
	return all
}

func texts(doc any, path string) (all []string) {
	for _, x := range list(doc, path) {
		all = append(all, fmt.Sprint(x))
	}
	return all
}

func pairs(doc any, path string) map[string]string {
	all := make(map[string]string)
	m, _ := at(doc, path).(map[string]any)
	for name, x := range m {
		all[name] = fmt.Sprint(x)
	}
	return all
}

// composed returns the servers of the compose file, and the arguments of its database.
func composed(t *testing.T) (servers []deployed, database []string) {
	published := make(map[string]bool)
	services, _ := at(documents(t, "compose.yaml")[0], "services").(map[string]any)
	for name, s := range services {
		health := texts(s, "healthcheck.test")
		one := deployed{file: "compose.yaml", name: name, args: texts(s, "command"), env: pairs(s, "environment"), probes: health[len(health)-1:]}
		for _, p := range texts(s, "ports") {
			must.True(t, strings.HasPrefix(p, "127.0.0.1:"), "compose.yaml: %s publishes %s to other machines", name, p)
			i := strings.LastIndexByte(p, ':')
			must.True(t, !published[p[:i]], "%s: port %s", name, p)
			published[p[:i]] = true
			one.ports = append(one.ports, p[i+1:])
		}
		if at(s, "image") == "mnem" {
			servers = append(servers, one)
			continue
		}
		database = one.args
		host := slices.Index(health, "-h")
		must.True(t, host >= 0 && health[host+1] == "127.0.0.1",
			"the database's health is %q: its first start listens on a socket alone", health)
	}
	return servers, database
}

// manifested returns the servers of the manifest.
func manifested(t *testing.T) (servers []deployed) {
	maps, kinds := make(map[string]map[string]string), make(map[string]int)
	for _, doc := range documents(t, "kubernetes.yaml") {
		kind, name := fmt.Sprint(at(doc, "kind")), fmt.Sprint(at(doc, "metadata.name"))
		if kinds[kind]++; kind == "ConfigMap" {
			maps[name] = pairs(doc, "data")
		}
		if kind == "Service" {
			must.Equal(t, at(list(doc, "spec.ports")[0], "targetPort"), any("http"))
		}
		for _, c := range list(doc, "spec.template.spec.containers") {
			one := deployed{file: "kubernetes.yaml", name: name, args: texts(c, "args"), env: make(map[string]string)}
			named := make(map[any]string)
			for _, p := range list(c, "ports") {
				named[at(p, "name")] = fmt.Sprint(at(p, "containerPort"))
				one.ports = append(one.ports, named[at(p, "name")])
			}
			for _, from := range list(c, "envFrom") {
				for k, v := range maps[fmt.Sprint(at(from, "configMapRef.name"))] {
					one.env[k] = v
				}
			}
			for _, e := range list(c, "env") {
				one.env[fmt.Sprint(at(e, "name"))] = fmt.Sprint(at(e, "value"))
			}
			for _, p := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
				port := named[at(c, p+".httpGet.port")]
				must.True(t, port != "", "%s asks port %v, which is none", p, at(c, p+".httpGet.port"))
				one.probes = append(one.probes, "http://127.0.0.1:"+port+fmt.Sprint(at(c, p+".httpGet.path")))
			}
			servers = append(servers, one)
		}
	}
	for _, kind := range []string{"ConfigMap", "Deployment", "Service", "PodDisruptionBudget"} {
		must.Equal(t, kinds[kind], 1, "of kind ", kind)
	}
	return servers
}

// TestDeploy runs the servers of the files in deploy, with their arguments, before a database with the settings of the
// compose file, as deploy/README.md says to, and asks what their health is asked by.
func TestDeploy(t *testing.T) {
	t.Parallel()
	servers, database := composed(t)
	servers = append(servers, manifested(t)...)
	if len(servers) != 3 || len(database) < 3 || database[0] != "postgres" {
		t.Fatalf("%d servers, database %q", len(servers), database)
	}
	var settings []string
	for i := 1; i < len(database); i += 2 {
		must.Equal(t, database[i], "-c", "the database's arguments: ", database)
		settings = append(settings, database[i+1])
	}
	server := pgserver.Start(t, settings...)
	dir := t.TempDir()
	token := asReadme(t, dir, server)
	known := program.Ran(t, program.In(dir, io.Discard, io.Discard), "help", "environment")
	for _, s := range servers {
		for name := range s.env {
			if !slices.Contains(otherVariables, name) && !strings.Contains(known, "\n  "+name+" ") {
				t.Errorf("%s: %s is no variable that mnem reads", s.file, name)
			}
		}
		if len(s.args) == 0 || s.args[0] != "serve" || !strings.HasPrefix(s.env["MNEM_REPO"], "postgres://") {
			t.Fatalf("%s: %q, %q", s.file, s.args, s.env)
		}
		s.keepsSecrets(t)
		s.runs(t, dir, server, token)
	}
	ignored := must.Get(os.ReadFile(filepath.Join("..", "..", "..", ".dockerignore")))(t)
	for _, path := range []string{"deploy/.env", ".git"} {
		if !slices.Contains(strings.Fields(string(ignored)), path) {
			t.Errorf("%s is copied into the image's build", path)
		}
	}
}

// keepsSecrets checks that no password is in the file.
func (s *deployed) keepsSecrets(t *testing.T) {
	t.Helper()
	at := must.Get(url.Parse(s.env["MNEM_REPO"]))(t)
	if _, has := at.User.Password(); has || at.Query().Has("password") {
		t.Errorf("%s: a password is in MNEM_REPO of %s", s.file, s.name)
	}
	if p, has := s.env["PGPASSWORD"]; has && !strings.HasPrefix(p, "${PGPASSWORD:?") {
		t.Errorf("%s: PGPASSWORD of %s is in the file", s.file, s.name)
	}
}

// runs starts a server with its very arguments but for how long it ends and the ports, which others may have, and asks it.
func (s *deployed) runs(t *testing.T, dir string, server *pgserver.Server, token string) {
	t.Helper()
	at := make(map[string]string) // addresses here by port
	var args []string
	for _, arg := range s.args[1:] {
		if strings.HasPrefix(arg, "drain=") {
			arg = "drain=0.1s" // the test is not to wait for it
		} else if host, port, err := net.SplitHostPort(arg); err == nil {
			if host != "0.0.0.0" {
				t.Errorf("%s of %s: no process outside the container reaches %s", s.name, s.file, arg)
			}
			at[port] = program.FreeAddr(t)
			arg = at[port]
		}
		args = append(args, arg)
	}
	app := program.In(dir, io.Discard, io.Discard)
	app.Data = filepath.Join(dir, "data of "+s.name)
	app.Getenv = func(name string) string {
		switch name {
		case "MNEM_REPO":
			return strings.Split(server.URL("main"), "&")[0]
		case "XDG_DATA_HOME", "XDG_CONFIG_HOME":
			return ""
		}
		return s.env[name]
	}
	base := program.Serve(t, app, args...)
	for _, port := range s.ports {
		must.True(t, at[port] != "", "%s of %s: nothing listens on port %s", s.name, s.file, port)
	}
	for _, probe := range s.probes {
		for port, addr := range at {
			probe = strings.Replace(probe, "127.0.0.1:"+port, addr, 1)
		}
		program.Ask(t, probe, "", "").Want(t, 200)
	}
	if want := at["7117"]; base != "http://"+want {
		t.Errorf("%s answers at %s, want %s", s.name, base, want)
	}
	program.Ask(t, base+"/team/notes/v1/remember", token, `{"text":"`+s.name+` of `+s.file+` is up"}`).Want(t, 200)
	program.Ask(t, base+"/team/notes/v1/status", token, "").Want(t, 200, `"client":"servers"`)
	program.Ask(t, base+"/team/notes/v1/status", "", "").Want(t, 401)
}

// asReadme runs the command lines of deploy/README.md that are for mnem, and returns the token that the last makes.
func asReadme(t *testing.T, dir string, server *pgserver.Server) (token string) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "..", "deploy", "README.md")))(t)
	lines := strings.ReplaceAll(string(text), "\\\n", "")
	commands := 0
	for line := range strings.Lines(lines) {
		_, rest, ok := strings.Cut(line, "docker compose run --rm server-a ")
		if !ok {
			continue
		}
		commands++
		args := strings.Fields(rest)
		for i, arg := range args {
			if strings.HasPrefix(arg, "'postgres://") {
				args[i] = server.URL(strings.TrimSuffix(arg[strings.Index(arg, "repository=")+len("repository="):], "'"))
			}
		}
		app := program.In(dir, io.Discard, io.Discard)
		app.Data = filepath.Join(dir, "operator")
		token = strings.TrimSpace(program.Ran(t, app, args...))
	}
	if commands != 2 || !strings.HasPrefix(token, "mnem_") {
		t.Fatalf("%d commands, the last printed %q", commands, token)
	}
	return token
}
