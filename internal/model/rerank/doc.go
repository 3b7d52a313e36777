// Package rerank asks a model how well texts answer a query. The model is a cross-encoder behind HTTP: it reads query
// and text together, as no index can.
//
// Open finds a provider by its spec:
//
//	cohere:MODEL   POST /v2/rerank of Cohere, or of a compatible server
//	jina:MODEL     POST /v1/rerank of Jina, or of a compatible server
//	voyage:MODEL   POST /v1/rerank of Voyage
//
// A request has the model, the query, a list of documents, and how many of them to judge ("top_n", Voyage's "top_k"):
// all. The answer has one "relevance_score" for the "index" of each document, in any order, in a list "results"
// (Voyage's "data"). An answer is refused as a whole (model.ErrAnswer) if it leaves a document out, has one twice or an
// unknown one, or has a score that is no finite number from -32,768 to 32,768: half an answer would be another ranking.
//
// Scores are returned in units of 2^-16, rounded to the nearest, ties to even. A server may give other scores later, so
// callers that need to repeat an answer must keep the scores. Requests are retried as in package embed, and fail with a
// *model.Error.
package rerank
