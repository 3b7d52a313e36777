package rank_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// orders are the orders of the members of structs whose fields have another one.
var orders = map[reflect.Type]string{
	reflect.TypeFor[retrieve.Item](): "ID Key Type Node Rank Score Tier Tokens Rendered Lanes Reach Community Recall " +
		"Band Against",
	reflect.TypeFor[retrieve.DigestItem](): "Name Source Facts Covers Found Score Band Tokens Rendered",
	reflect.TypeFor[retrieve.Request](): "Text Vectors Whole Sparse Fusion Weights Types Where Now CreatedFrom CreatedTo UpdatedFrom " +
		"UpdatedTo ValidAt Marks Limit Budget Expand ExpandTypes Direction Adjacency Show SummaryCap Exclude " +
		"ExcludeNames Unseen UnseenFrom Dedup Order Spelling EdgeWeights Profile Explicit Settled Pack " +
		"PassageTokens Tokenizer Expansion MaxExpand Decay Damping Altitude Community Rewrites Rewrite Rerank " +
		"RerankTop Reranked Reranker Intent Pairs Format Floor Ranking",
}

// inner returns all that a value has as JSON, by the names of its fields: what doors do not show as well.
func inner(v any) ([]byte, error) {
	var b bytes.Buffer
	err := appendInner(&b, reflect.ValueOf(v))
	return b.Bytes(), err
}

func appendInner(b *bytes.Buffer, v reflect.Value) error {
	if !v.IsValid() {
		b.WriteString("null")
		return nil
	}
	_, itself := v.Interface().(json.Marshaler)
	kind := v.Kind()
	switch {
	case !itself && kind == reflect.Struct:
		b.WriteByte('{')
		if err := appendMembers(b, v); err != nil {
			return err
		}
		b.WriteByte('}')
		return nil
	case !itself && (kind == reflect.Pointer || kind == reflect.Interface):
		return appendInner(b, v.Elem())
	case !itself && (kind == reflect.Array || kind == reflect.Slice && !v.IsNil()):
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := appendInner(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	data, err := json.Marshal(v.Interface())
	b.Write(data)
	return err
}

func appendMembers(b *bytes.Buffer, v reflect.Value) error {
	fields := reflect.VisibleFields(v.Type())
	if order := strings.Fields(orders[v.Type()]); order != nil {
		slices.SortStableFunc(fields, func(x, y reflect.StructField) int {
			return slices.Index(order, x.Name) - slices.Index(order, y.Name)
		})
	}
	for _, f := range fields {
		if f.Anonymous || !f.IsExported() {
			continue // its own fields are visible
		}
		if !bytes.HasSuffix(b.Bytes(), []byte("{")) {
			b.WriteByte(',')
		}
		b.WriteString(`"` + f.Name + `":`)
		if err := appendInner(b, v.FieldByIndex(f.Index)); err != nil {
			return err
		}
	}
	return nil
}

func TestInner(t *testing.T) {
	got, err := inner([]any{
		retrieve.Recalled{Signals: retrieve.Signals{Graph: 7}}, nil, (*retrieve.Reach)(nil), []retrieve.LaneHit(nil),
		retrieve.DigestItem{Name: `<a>`, Covers: []graph.ID{{}}, Band: retrieve.BandRest},
	})
	want := `[{"Keyword":0,"Entity":0,"Similarity":0,"Graph":7,"Way":null},null,null,null,` +
		`{"Name":"\u003ca\u003e","Source":[` + strings.TrimSuffix(strings.Repeat("0,", 32), ",") + `],"Facts":0,` +
		`"Covers":[null],"Found":0,"Score":0,"Band":"rest","Tokens":0,"Rendered":""}]`
	must.OK(t, err)
	must.Equal(t, string(got), want)
}
