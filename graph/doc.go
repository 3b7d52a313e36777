// Package graph defines the data of a memory: ids, times, ref names, the records of nodes, edges, marks, embeddings
// and graphs, and the change lines that make them.
//
// Records are canonical DAG-CBOR maps. Encode writes a valid record; Decode accepts exactly the output of Encode
// and refuses everything else with an error that wraps ipld.ErrInvalid. Unknown fields are kept in Extra and
// written back. Everything here is a pure function of its arguments: times and authors are passed in. Values may be
// read concurrently.
//
// Every record has the fields kind (string) and v (int, 1). A question mark marks an optional field, which is
// omitted if it has no value; times are integers in microseconds since 1970.
//
//	node       field      type    meaning
//	           id         bytes   16 bytes
//	           key?       string  1..512 bytes; then id = sha2-256("mnem:node:" key)[:16]
//	           type       string  1..255 bytes, no NUL
//	           summary?   string  1..262,144 bytes
//	           context?   string  1..262,144 bytes
//	           props      map     0..1,000 entries, values nested at most 32 deep
//	           content?   map     below
//	           created    int     time
//	           updated?   int     time of the last change, never equal to created
//	           validFrom? int     inclusive
//	           validTo?   int     exclusive, after validFrom
//	           sources?   list    1..64 strings of 1..1,024 bytes
//
//	content    text       string  1..32,768 bytes; exclusive with chunks
//	(in node)  chunks     list    links to raw blocks of 262,144 bytes, the last one 1..262,144
//	           size       int     length in bytes, 1..67,108,864
//	           media?     string  1..255 bytes, never "text/plain"
//
//	edge       id         bytes   16 bytes
//	           type       string  1..255 bytes, no NUL
//	           src, dst   bytes   node ids
//	           key?       string  1..512 bytes; then id = EdgeID(src, type, dst, key)
//	           weight     int     1..65,536 in units of 2^-16
//	           props      map     as in node
//	           created    int     time
//	           validFrom?, validTo?, sources?  as in node
//
//	mark       on         string  "node" or "edge"
//	           id         bytes   its id
//	           state      string  stale, superseded, retired, forgotten, expired, contradicted
//	           by?        bytes   node id; only with superseded and contradicted
//	           reason?    string  1..4,096 bytes
//	           actor      string  1..255 bytes, no control characters
//	           time       int     time
//
//	embedding  model      string  1..255 bytes, no NUL
//	           dtype      string  i8, f32 or sparse
//	           dims       int     dimensions, 1..65,536; terms, 1..32,768
//	           vector     bytes   i8: a byte each, never -128; f32: little-endian binary32, finite;
//	                              sparse: one dag-cbor map of term to weight (units of 2^-16)
//	           text       bytes   sha2-256 of context, summary and content joined by newlines
//
//	graph      nodes      link    tree: id to link to node
//	           edges      link    tree: id to link to edge
//	           out        link    tree: src type 00 dst edge to weight
//	           in         link    tree: dst type 00 src edge to weight
//	           marks      link    tree: 'n' or 'e' then id to link to mark
//	           counts     map     nodes, edges, marks: entries of these trees
package graph
