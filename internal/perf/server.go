package perf

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	groupServer     = "server"
	serverQuestions = 1_000 // no more than there are nodes
	serverClients   = 8
	serverEnd       = 10 * time.Second // to end in
)

// served is a process of the program that answers until it is ended.
type served struct {
	cmd   *exec.Cmd
	said  bytes.Buffer // its standard error
	first []byte       // line that it wrote
	ended bool
}

// serve starts the program with arguments and returns it once it has said where it listens.
func (b *bench) serve(ctx context.Context, args ...string) (*served, error) {
	s := &served{cmd: exec.CommandContext(ctx, b.measured, append([]string{"-R", b.memory()}, args...)...)}
	s.cmd.Env, s.cmd.Stderr = b.env, &s.said
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	if s.first, err = bufio.NewReader(out).ReadBytes('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("read where a server is: %w", err), s.end())
	}
	return s, nil
}

// end ends it, unless it has ended.
func (s *served) end() error {
	if s.ended {
		return nil
	}
	s.ended = true
	if s.cmd.Process.Signal(os.Interrupt) != nil { // Windows has no interrupts
		err := s.cmd.Process.Kill()
		_ = s.cmd.Wait() // it was killed
		return err
	}
	late := time.AfterFunc(serverEnd, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("a server: %w: %s", err, strings.TrimSpace(s.said.String()))
	}
	return nil
}

// cpu is the CPU time that it took, once it has ended.
func (s *served) cpu() int64 { return cpuOf(s.cmd.ProcessState) }

// server asks a server questions over HTTP, no two the same, from serverClients clients at once, and looks at
// its memory after them and at the CPU time that it took.
func (b *bench) server(ctx context.Context) (err error) {
	s, err := b.serve(ctx, "serve", "--addr", "127.0.0.1:0", "--log", "none", "--rate", "1000000", "--json")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	var at struct{ URL string }
	if err := json.Unmarshal(s.first, &at); err != nil {
		return fmt.Errorf("read where a server is: %w", err)
	}
	start := time.Now()
	times, err := b.askServer(ctx, at.URL)
	if err != nil {
		return err
	}
	all, n := time.Since(start), int64(len(times))
	resident := residentOf(s.cmd.Process.Pid)
	if err := s.end(); err != nil {
		return err
	}
	b.add(Figure{Group: groupServer, Name: "answer over HTTP, 8 at a time", Unit: Nanoseconds, Stats: statsOf(times)})
	b.add(Figure{Group: groupServer, Name: "CPU of the server for each", Unit: Nanoseconds,
		Stats: statsOf([]int64{s.cpu() / n})})
	b.add(Figure{Group: groupServer, Name: "answers a second", Unit: Count,
		Stats: statsOf([]int64{n * int64(time.Second) / int64(all)})})
	b.add(rssFigure(groupServer, "its memory after these questions", []int64{resident},
		upTo(b.synth.Nodes, serverMemory)))
	return nil
}

// askServer asks all questions and returns how long each answer took.
func (b *bench) askServer(ctx context.Context, url string) ([]int64, error) {
	times := make([]int64, min(serverQuestions, b.synth.Nodes))
	errs := make([]error, serverClients)
	var all sync.WaitGroup
	for g := range serverClients {
		all.Go(func() {
			for i := g; i < len(times) && errs[g] == nil; i += serverClients {
				times[i], errs[g] = timed(func() error { return b.askOver(ctx, url, i) })
			}
		})
	}
	all.Wait()
	return times, errors.Join(errs...)
}

// askOver asks one question over HTTP.
func (b *bench) askOver(ctx context.Context, url string, i int) error {
	q, err := b.synth.Question(i)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"query": q.Text})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/retrieve", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, res.Body)
	err = errors.Join(err, res.Body.Close())
	if err == nil && (res.StatusCode != http.StatusOK || n == 0) {
		err = fmt.Errorf("a server answered %s and %d bytes", res.Status, n)
	}
	return err
}
