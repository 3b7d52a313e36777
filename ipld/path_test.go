package ipld_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestFollow(t *testing.T) {
	var store blocks
	leaf := store.put(ipld.Raw, []byte("leaf"))
	child := store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
		ipld.Entry{Key: "n", Value: ipld.IntValue(7)}, ipld.Entry{Key: "leaf", Value: ipld.LinkValue(leaf)})))
	root := store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
		ipld.Entry{Key: "list", Value: ipld.ListValue(ipld.IntValue(1), ipld.LinkValue(child))},
		ipld.Entry{Key: "gone", Value: ipld.LinkValue(ipld.Sum(ipld.Raw, nil))})))
	for _, c := range []struct {
		path, want string
		last       ipld.CID
	}{
		{"list/0", "1", root}, {"list/1/n", "7", child}, {"/list/1/n/", "7", child},
		{"list/1/leaf", `{"/":{"bytes":"bGVhZg"}}`, leaf},
		{"list/1", `{"leaf":{"/":"` + leaf.String() + `"},"n":7}`, child},
	} {
		var b bytes.Buffer
		last, err := ipld.Follow(context.Background(), store.get, root, c.path, &b)
		must.Check(t, err == nil && b.String() == c.want && last == c.last,
			"%s: %s in %s, %v; want %s in %s", c.path, &b, last, err, c.want, c.last)
	}
	for path, want := range map[string]error{
		"x": ipld.ErrPath, "list/2": ipld.ErrPath, "list/-1": ipld.ErrPath, "list/one": ipld.ErrPath,
		"list/0/x": ipld.ErrPath, "gone": errMissing, "list/1/leaf/x": ipld.ErrPath,
		strings.Repeat("a/", ipld.MaxPathSegments): ipld.ErrPath, strings.Repeat("a", ipld.MaxPath+1): ipld.ErrPath,
	} {
		var b bytes.Buffer
		if _, err := ipld.Follow(context.Background(), store.get, root, path, &b); !errors.Is(err, want) || b.Len() > 0 {
			t.Errorf("%.20s: %v, want %v; printed %q", path, err, want, &b)
		}
	}
}

// TestFollowPrintsAsDAGJSON compares the output of Follow for whole blocks, of any values, with DAGJSON.
func TestFollowPrintsAsDAGJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		var store blocks
		c := store.put(ipld.DagCBOR, ipld.AppendValue(nil, v))
		var want, got bytes.Buffer
		wantErr := ipld.DAGJSON(&want, c, store.data[c])
		_, err := ipld.Follow(context.Background(), store.get, c, "", &got)
		must.Require(t, got.String() == want.String() && (err == nil) == (wantErr == nil),
			"%s, %v; want %s, %v", &got, err, &want, wantErr)
	})
}
