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

// server asks a server questions over HTTP, no two the same, from serverClients clients at once, and looks at
// its memory after them and at the CPU time that it took.
func (b *bench) server(ctx context.Context) (err error) {
	cmd := exec.CommandContext(ctx, b.measured, "-R", b.memory(), "serve", "--addr", "127.0.0.1:0",
		"--log", "none", "--rate", "1000000", "--json")
	cmd.Env = b.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a server: %w", err)
	}
	ended := false
	end := func() error {
		if ended {
			return nil
		}
		ended = true
		if cmd.Process.Signal(os.Interrupt) != nil { // Windows has no interrupts
			err := cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
			return err
		}
		late := time.AfterFunc(serverEnd, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("a server: %w: %s", err, strings.TrimSpace(said.String()))
		}
		return nil
	}
	defer func() { err = errors.Join(err, end()) }()
	var at struct{ URL string }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		return fmt.Errorf("read where a server is: %w", err)
	}
	start := time.Now()
	times, err := b.askServer(ctx, at.URL)
	if err != nil {
		return err
	}
	all, n := time.Since(start), int64(len(times))
	resident := residentOf(cmd.Process.Pid)
	if err := end(); err != nil {
		return err
	}
	b.add(Figure{Group: groupServer, Name: "answer over HTTP, 8 at a time", Unit: Nanoseconds, Stats: statsOf(times)})
	b.add(Figure{Group: groupServer, Name: "CPU of the server for each", Unit: Nanoseconds,
		Stats: statsOf([]int64{cpuOf(cmd.ProcessState) / n})})
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
