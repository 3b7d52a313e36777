package serve

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// object is JSON that is put together.
type object = map[string]any

const about = "The operations of one mnem repository. Each is a command of the program and answers " +
	"as that does with --json. What reads can be asked with GET too; what writes is asked with POST. " +
	"Errors are problems of RFC 9457 with a code and, where there is one, a hint."

// Document returns the OpenAPI 3.1 document of operations as JSON.
func Document(ops []operation.Operation, version string) ([]byte, error) {
	doc, err := openAPI(ops, version)
	if err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

func openAPI(ops []operation.Operation, version string) (object, error) {
	paths := object{
		"/healthz": probe("healthz", "Tell that the process answers"),
		"/readyz":  probe("readyz", "Tell whether operations can be answered"),
		"/metrics": object{"get": object{
			"operationId": "metrics", "summary": "Print counters for Prometheus", "tags": []string{"server"},
			"responses": withProblems(object{"200": response("Counters", mediaText, object{"type": "string"})}),
		}},
		"/openapi.json": object{"get": object{
			"operationId": "openapi", "summary": "Print this document", "tags": []string{"server"},
			"responses": withProblems(object{"200": response("OpenAPI 3.1", operation.MediaJSON, object{"type": "object"})}),
		}},
	}
	schemas := object{"Problem": problemSchema()}
	for i := range ops {
		op := &ops[i]
		paths["/v1/"+op.Name] = pathOf(op)
		if op.Body != operation.MediaCAR {
			schemas[op.Name+"_arguments"] = op.InputSchema()
		}
		out, err := op.OutputSchema()
		if err != nil {
			return nil, err
		}
		if out != nil {
			schemas[op.Name+"_answer"] = out
		}
	}
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": "mnem", "version": version, "description": about},
		"servers": []object{{"url": "/", "description": "This server"}},
		"tags": []object{
			{"name": "read", "description": "Changes nothing"},
			{"name": "write", "description": "Makes an operation that undo takes back"},
			{"name": "admin", "description": "Removes what undo cannot bring back"},
			{"name": "server", "description": "About the server"},
		},
		"security":   []object{{}, {"token": []string{}}},
		"paths":      paths,
		"components": components(schemas),
	}, nil
}

func probe(id, summary string) object {
	return object{"get": object{
		"operationId": id, "summary": summary, "tags": []string{"server"}, "security": []object{},
		"responses": withProblems(object{"200": response("Yes", operation.MediaJSON, object{
			"type": "object", "required": []string{"status"}, "properties": object{"status": object{"const": "ok"}}})}),
	}}
}

// response is a response with one form of content.
func response(description, media string, schema object) object {
	return object{"description": description, "content": object{media: object{"schema": schema}}}
}

func ref(schema string) object { return object{"$ref": "#/components/schemas/" + schema} }

func problemSchema() object {
	text := object{"type": "string"}
	return object{
		"type": "object", "required": []string{"type", "title", "status", "detail", "code", "kind", "request_id"},
		"properties": object{
			"type": text, "title": text, "status": object{"type": "integer"},
			"detail": object{"type": "string", "description": "What was wrong, in one line"},
			"code":   object{"type": "string", "enum": codes()},
			"hint":   object{"type": "string", "description": "The next step"},
			"kind": object{"type": "string", "description": "What to do next: say it differently, ask somebody " +
				"else, read and write again, name something else, or try again",
				"enum": []string{operation.KindValidation, operation.KindNotAllowed, operation.KindVersion,
					operation.KindNotFound, operation.KindExec}},
			"request_id": object{"type": "string", "description": "Names the request in the log of the server"},
			"candidates": object{"type": "array", "description": "Nodes that a name may mean",
				"items": object{"type": "object", "properties": object{"id": text, "title": text}}},
			"answer": object{"description": "What the operation printed before it failed"},
		},
	}
}

func components(schemas object) object {
	parameters := object{}
	for _, h := range []struct{ name, doc string }{
		{"Mnem-Author", "Who makes changes; as the server is configured where it is missing"},
		{"Mnem-Agent", "The program that acts for the author"},
		{"Mnem-Task", "What the agent works on"},
		{"Mnem-Branch", "The branch to write to; the one HEAD is on where it is missing"},
		{"Mnem-Session", "The session that answers are recorded in"},
		{"If-Match", "The quoted CID of the commit that the branch must be at"},
		{"If-None-Match", "Quoted CIDs of commits whose answer is known"},
		{"Idempotency-Key", "A name of the request: sent again with it, it is not done again"},
	} {
		parameters[h.name] = object{
			"name": h.name, "in": "header", "description": h.doc, "schema": object{"type": "string"},
		}
	}
	return object{
		"schemas": schemas, "parameters": parameters,
		"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer",
			"description": "Made by 'mnem serve token new'"}},
		"responses": object{"Problem": response("A problem", mediaProblem, ref("Problem"))},
	}
}

func codes() []string {
	list := []string{codeUnauthorized, codeMethod, codeMedia, codeAcceptable, codeTooLarge,
		codeTooMany, codePrecondition, codeInFlight, codeKeyReused}
	for _, o := range operation.Outcomes() {
		if o != operation.OK {
			list = append(list, o.Code)
		}
	}
	slices.Sort(list)
	return list
}

// withProblems adds what every request may be answered with, and more problems.
func withProblems(responses object, more ...int) object {
	for _, status := range append(more, 400, 401, 403, 404, 429, 500, 503) {
		responses[strconv.Itoa(status)] = object{"$ref": "#/components/responses/Problem"}
	}
	return responses
}

func pathOf(op *operation.Operation) object {
	path := object{"post": post(op)}
	if slices.Contains(methodsOf(op), http.MethodGet) {
		path["get"] = get(op)
	}
	return path
}

func common(op *operation.Operation, id string, headers ...string) object {
	params := []object{}
	for _, h := range headers {
		params = append(params, object{"$ref": "#/components/parameters/" + h})
	}
	return object{
		"operationId": id, "summary": op.Title, "description": op.Doc,
		"tags": []string{op.Effect.String()}, "parameters": params,
	}
}

func get(op *operation.Operation) object {
	o := common(op, op.Name+"_get", "If-None-Match")
	o["parameters"] = append(o["parameters"].([]object), queryParams(op)...)
	o["responses"] = responses(op, true)
	return o
}

// queryParams are the parameters that the query may have, without those that only a POST may use.
func queryParams(op *operation.Operation) []object {
	var params []object
	for i := range op.Params {
		p := &op.Params[i]
		if p.Kind == operation.Lines || p.Effect > operation.Reads {
			continue
		}
		schema := p.Schema()
		delete(schema, "description")
		params = append(params, object{
			"name": p.Name, "in": "query", "description": p.Doc, "required": p.Required, "schema": schema,
		})
	}
	return params
}

func post(op *operation.Operation) object {
	headers := []string{"Mnem-Author", "Mnem-Agent", "Mnem-Task", "Mnem-Branch"}
	if op.Param("session") != nil {
		headers = append(headers, "Mnem-Session")
	}
	if op.Param("expect") != nil {
		headers = append(headers, "If-Match")
	}
	o := common(op, op.Name, append(headers, "Idempotency-Key")...)
	content := object{}
	if op.Body != operation.MediaCAR {
		content[operation.MediaJSON] = object{"schema": ref(op.Name + "_arguments")}
	} else {
		content[operation.MediaCAR] = object{"schema": object{"type": "string", "contentMediaType": operation.MediaCAR}}
		o["parameters"] = append(o["parameters"].([]object), queryParams(op)...)
	}
	if op.Body == operation.MediaNDJSON {
		content[op.Body] = object{"schema": object{"type": "object", "description": "One line; the " +
			"parameters are in the query then"}}
	}
	required := slices.ContainsFunc(op.Params, func(p operation.Param) bool { return p.Required })
	if names := positional(op); len(names) > 0 {
		o["x-positional"] = names
	}
	o["requestBody"] = object{"required": required || op.Body == operation.MediaCAR, "content": content}
	o["responses"] = responses(op, false)
	return o
}

// positional returns the parameters that are arguments of the command, in the order that generated clients use.
func positional(op *operation.Operation) (names []string) {
	for i := range op.Params {
		if p := &op.Params[i]; p.Flag == "" && p.Kind != operation.Lines {
			names = append(names, p.Name)
		}
	}
	return names
}

func responses(op *operation.Operation, conditional bool) object {
	var schema any = object{"type": "string", "contentMediaType": operation.MediaCAR}
	if len(op.Shapes) > 0 {
		schema = ref(op.Name + "_answer")
	}
	content := object{}
	for _, form := range offers(op) {
		switch {
		case form == mediaText:
			content[form] = object{"schema": object{"type": "string"}}
		case op.Stream() && form == operation.MediaJSON:
			content[form] = object{"schema": object{"type": "array", "items": schema}}
		default:
			content[form] = object{"schema": schema}
		}
	}
	ok := object{"description": "What '" + strings.Join(append([]string{"mnem"}, op.Command...), " ") +
		"' prints", "content": content}
	if op.Answer == operation.MediaJSON {
		ok["headers"] = object{"ETag": object{"description": "The CID of the commit that the answer is " +
			"from or that was made, where it names one", "schema": object{"type": "string"}}}
	}
	more := []int{405, 406, 410, 422}
	if !conditional {
		more = append(more, 412, 413, 415)
	}
	all := withProblems(object{"200": ok}, more...)
	// An answer with bad news has the same form: a replay that differs.
	all["409"] = object{"description": "A problem, or an answer with bad news", "content": object{
		mediaProblem:        object{"schema": ref("Problem")},
		operation.MediaJSON: object{"schema": object{}},
	}}
	if conditional {
		all["304"] = object{"description": "The answer is known: it is from the same commit"}
	}
	return all
}
