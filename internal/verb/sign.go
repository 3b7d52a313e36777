package verb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
)

const (
	// signPause is how long the first run waits for a signature; a key in memory takes less.
	signPause = 50 * time.Millisecond
	// SignLease is how long later runs make other writers wait for a signature.
	SignLease = 2 * time.Second
	// maxSigned bounds the runs of a verb: each commit of a chain takes one, as does each change by another writer.
	maxSigned = 256
)

// Signatures gives a run of a verb the signatures of its commits.
type Signatures struct {
	Made state.Signatures `json:"made,omitempty"`
	// Again is set after the first run: if signatures are missing, the run keeps the writer's turn until SignLease ends.
	// Turn is the turn that the previous run kept, "" for none.
	Again bool   `json:"again,omitempty"`
	Turn  string `json:"turn,omitempty"`
}

// signed runs a job whose commits the caller signs. The repository does not wait for a key: a run without all signatures
// ends with an UnsignedError that has the unsigned records, and signed runs the job again with their signatures. That
// run fails if the records have changed, as after another writer's commit; from then on other writers wait up to
// SignLease. If the repository is open in this process, a signature made within signPause saves the second run.
func (s *Service) signed(ctx context.Context, job *Job, run func(context.Context) error) error {
	if s.Commit.Sign == nil || s.Caller == nil {
		return s.Host.Open(ctx, job, run)
	}
	by := &signer{sign: s.Commit.Sign, made: state.Signatures{}, under: map[string]chan signature{}}
	job.Sign = &Signatures{Made: by.made}
	for range maxSigned {
		s.Commit.Sign = by.within(signPause)
		if job.Sign.Again {
			s.Commit.Sign = by.within(SignLease)
		}
		err := s.Host.Open(ctx, job, run)
		var unsigned *state.UnsignedError
		if !errors.As(err, &unsigned) {
			return err
		}
		for _, record := range unsigned.Records {
			if err := by.wait(ctx, record); err != nil {
				return fmt.Errorf("sign commit: %w", err)
			}
		}
		job.Sign.Again, job.Sign.Turn = true, unsigned.Turn
	}
	return fmt.Errorf("%w: the memory changed each time before its commit was signed", store.ErrBusy)
}

// signer signs each record once, each in its own goroutine: a key may wait for a person.
type signer struct {
	sign  commit.SignFunc
	made  state.Signatures
	under map[string]chan signature // pending, by record
}

type signature struct {
	bytes []byte
	err   error
}

// begin starts signing a record, unless that is under way.
func (b *signer) begin(record []byte) chan signature {
	made, ok := b.under[string(record)]
	if !ok {
		made = make(chan signature, 1)
		b.under[string(record)] = made
		record = bytes.Clone(record)
		go func() {
			signed, err := b.sign(record)
			made <- signature{signed, err}
		}()
	}
	return made
}

func (b *signer) take(record []byte, made signature) error {
	delete(b.under, string(record))
	if made.err == nil && len(made.bytes) == 0 {
		return commit.ErrUnsigned
	}
	if made.err == nil {
		b.made.Add(record, made.bytes)
	}
	return made.err
}

// within returns what signs in this process, with a signature that is made in time. After a record whose signature is
// not, it waits for no other one: a purge has as many records as blocks, and writers wait for it.
func (b *signer) within(most time.Duration) commit.SignFunc {
	late := false
	return func(record []byte) ([]byte, error) {
		signed, lacks := b.made.Sign(record)
		if lacks == nil || late {
			return signed, lacks
		}
		select {
		case made := <-b.begin(record):
			return made.bytes, b.take(record, made)
		case <-time.After(most):
			late = true
			return nil, lacks
		}
	}
}

func (b *signer) wait(ctx context.Context, record []byte) error {
	select {
	case made := <-b.begin(record):
		return b.take(record, made)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
