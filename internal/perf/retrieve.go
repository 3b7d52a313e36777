package perf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	groupCold   = "cold"
	groupWarm   = "warm"
	coldSamples = 4  // for each run
	warmSamples = 40 // likewise
	warmUp      = 20 // questions before anything is measured
	atOnce      = 2  // goroutines that ask at the same time
	readSamples = 2  // for each run: questions of which reads are counted
)

// asked is one way to ask.
type asked struct {
	name   string
	dense  bool
	expand *int
}

func (b *bench) ways() []asked {
	list := []asked{{name: "text"}, {name: "text, --expand 0", expand: new(int)}}
	if b.synth.Dims > 0 {
		list = append(list, asked{name: "text and vector", dense: true},
			asked{name: "text and vector, --expand 0", dense: true, expand: new(int)})
	}
	return list
}

func (a asked) request(q Question) (retrieve.Request, error) {
	req := retrieve.Request{Text: q.Text, Expand: a.expand}
	if a.dense {
		v, err := retrieve.NewQueryVector(SynthModel, q.Vector)
		if err != nil {
			return req, err
		}
		req.Vectors = []retrieve.QueryVector{v}
	}
	return req, nil
}

func (b *bench) questions(n int) ([]Question, error) {
	list := make([]Question, n)
	for i := range list {
		var err error
		if list[i], err = b.synth.Question(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// cold runs whole processes that answer one question each.
func (b *bench) cold(ctx context.Context) error {
	ways := []asked{{name: "text"}}
	if b.synth.Dims > 0 {
		ways = append(ways, asked{name: "text and vector", dense: true})
	}
	total := b.samples(coldSamples)
	questions, err := b.questions(total + 1)
	if err != nil {
		return err
	}
	var list []whole
	for _, way := range ways {
		list = append(list, whole{
			name: "new process, " + way.name, bound: coldBound(b.synth.Nodes), rss: &Bound{Most: rssBound},
			run: func(i int) (Spent, error) { return b.coldOnce(ctx, way, questions[i]) },
		})
	}
	figures, err := b.wholes(groupCold, total, b.opening(ctx), list...)
	b.size.Figures = append(b.size.Figures, figures...)
	return err
}

func (b *bench) coldOnce(ctx context.Context, way asked, q Question) (Spent, error) {
	args := []string{"-R", b.memory(), "retrieve"}
	if way.dense {
		path := filepath.Join(b.dir, "vector.json")
		if err := os.WriteFile(path, appendVector(nil, q.Vector), 0o600); err != nil {
			return Spent{}, err
		}
		args = append(args, "--vector", SynthModel+"=@"+path)
	}
	spent, err := b.mnem(ctx, append(args, q.Text)...)
	if err == nil && spent.Out == 0 {
		err = fmt.Errorf("no answer to %q", q.Text)
	}
	return spent, err
}

// warm asks an open repository, one question after the other and then two at a time.
func (b *bench) warm(ctx context.Context) error {
	questions, err := b.questions(b.samples(warmSamples) + warmUp)
	if err != nil {
		return err
	}
	ways := b.ways()
	err = withRepo(b.memory(), repo.Options{ReadOnly: true}, func(r *repo.Repo) error {
		s, err := r.Snapshot(ctx, "HEAD")
		if err != nil {
			return err
		}
		costs := make([][]cost, len(ways))
		for i, q := range questions {
			b.step("questions", i, len(questions))
			for w, way := range ways {
				took, err := ask(ctx, s, way, q)
				if err != nil {
					return err
				}
				if i >= warmUp {
					costs[w] = append(costs[w], took)
				}
			}
		}
		for w, way := range ways {
			var bound *Bound
			if way.expand == nil {
				bound = warmBound(b.synth.Nodes, way.dense)
			}
			b.addCosts(groupWarm, way.name, costs[w], 1, nil, bound)
		}
		for _, way := range ways {
			if way.expand != nil {
				continue
			}
			took, err := askAtOnce(ctx, s, way, questions[warmUp:])
			if err != nil {
				return err
			}
			b.add(Figure{Group: groupWarm, Name: way.name + ", 2 at a time", Unit: Nanoseconds,
				Stats: statsOf(took)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.countReads(ctx, questions[:b.samples(readSamples)])
}

func ask(ctx context.Context, s *repo.Snapshot, way asked, q Question) (cost, error) {
	req, err := way.request(q)
	if err != nil {
		return cost{}, err
	}
	return costOf(func() error {
		answer, err := s.Retrieve(ctx, req)
		if err == nil && len(answer.Items) == 0 {
			err = fmt.Errorf("nothing found for %q", q.Text)
		}
		return err
	})
}

// askAtOnce asks from atOnce goroutines and returns how long each answer took.
func askAtOnce(
	ctx context.Context, s *repo.Snapshot, way asked, questions []Question,
) ([]int64, error) {
	var wait sync.WaitGroup
	times, errs := make([]int64, len(questions)), make([]error, atOnce)
	for g := range atOnce {
		wait.Go(func() {
			for i := g; i < len(questions) && errs[g] == nil; i += atOnce {
				var took cost
				took, errs[g] = ask(ctx, s, way, questions[i])
				times[i] = took.wall
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return times, nil
}

// countReads counts what questions read when nothing is cached.
func (b *bench) countReads(ctx context.Context, questions []Question) error {
	for _, way := range b.ways() {
		if way.expand != nil {
			continue
		}
		var work []Work
		for _, q := range questions {
			r, c, err := b.openCounted(ctx, b.memory())
			if err != nil {
				return err
			}
			err = func() error {
				s, err := r.Snapshot(ctx, "HEAD")
				if err != nil {
					return err
				}
				_, err = ask(ctx, s, way, q)
				return err
			}()
			work = append(work, c.work())
			if err := errors.Join(err, r.Close()); err != nil {
				return err
			}
		}
		b.addWork(groupWarm, way.name+", nothing cached", work, nil)
	}
	return nil
}
