package workflows

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// File names of the schemas in docs/schema.
const (
	ConfigSchemaFile   = "config.schema.json"
	WorkflowSchemaFile = "workflow.schema.json"
	CardSchemaFile     = "agent.schema.json"
)

// ConfigSchema returns the JSON Schema (draft-07) of configuration files. It accepts everything that wfs accepts, and
// rejects most of the mistakes that wfs reports, so that an editor can check files with it.
func ConfigSchema() []byte {
	return writeSchema(objects().config, ConfigSchemaFile, "wfs configuration")
}

// WorkflowSchema returns the JSON Schema (draft-07) of workflow files. It is as strict as ConfigSchema.
func WorkflowSchema() []byte {
	return writeSchema(objects().workflow, WorkflowSchemaFile, "wfs workflow")
}

// schema is a JSON Schema, with the keywords that wfs uses.
type schema struct {
	Schema        string             `json:"$schema,omitempty"`
	ID            string             `json:"$id,omitempty"`
	Ref           string             `json:"$ref,omitempty"`
	Title         string             `json:"title,omitempty"`
	Description   string             `json:"description,omitempty"`
	Type          string             `json:"type,omitempty"`
	Const         any                `json:"const,omitempty"`
	Enum          []string           `json:"enum,omitempty"`
	Pattern       string             `json:"pattern,omitempty"`
	Minimum       int                `json:"minimum,omitempty"`
	Maximum       int                `json:"maximum,omitempty"`
	Items         *schema            `json:"items,omitempty"`
	MinItems      int                `json:"minItems,omitempty"`
	Properties    map[string]*schema `json:"properties,omitempty"`
	PropertyNames *schema            `json:"propertyNames,omitempty"`
	Additional    any                `json:"additionalProperties,omitempty"` // false, or a *schema
	MinProperties int                `json:"minProperties,omitempty"`
	Required      []string           `json:"required,omitempty"`
	AllOf         []*schema          `json:"allOf,omitempty"`
	AnyOf         []*schema          `json:"anyOf,omitempty"`
	OneOf         []*schema          `json:"oneOf,omitempty"`
	Not           *schema            `json:"not,omitempty"`
	Default       any                `json:"default,omitempty"`
	Definitions   map[string]*schema `json:"definitions,omitempty"`
}

func writeSchema(o *object, file, title string) []byte {
	defs := definitions{}
	s := defs.object(o)
	s.Schema, s.ID, s.Title, s.Definitions = "http://json-schema.org/draft-07/schema#", "urn:wfs:"+file, title, defs
	return IndentedJSON(s)
}

// definitions has the JSON schema of each kind of object in a workflow or configuration file, by name.
type definitions map[string]*schema

func (d definitions) object(o *object) *schema {
	s := &schema{Description: o.about, Type: "object", Properties: map[string]*schema{}, Additional: false}
	for i := range o.keys {
		k := &o.keys[i]
		p := d.shape(k.value)
		about := k.about
		if k.value.personal != "" {
			about += " Not in a repository's .wfs/config.yaml: " + k.value.personal + "."
		}
		if p.Ref != "" { // draft-07 ignores other keywords next to $ref
			p = &schema{AllOf: []*schema{p}}
		}
		p.Description, p.Default = about, defaultValue(k)
		s.Properties[k.name] = p
		if k.value.required {
			s.Required = append(s.Required, k.name)
		}
	}
	s.Not = excluded(o)
	if len(o.oneOf) == 1 {
		s.Required = append(s.Required, o.oneOf[0]...)
	} else {
		for _, group := range o.oneOf {
			s.OneOf = append(s.OneOf, &schema{Required: group})
		}
	}
	if o.short != "" || len(s.Required) == 0 {
		s.MinProperties = 1
	}
	return s
}

// excluded returns a schema of the combinations of keys that are not allowed: two keys that exclude each other, or a
// key of o.with without the first key of o.either. It returns nil for none.
func excluded(o *object) *schema {
	var pairs []*schema
	for i, a := range o.either {
		for _, b := range o.either[:i] {
			pairs = append(pairs, &schema{Required: []string{b, a}})
		}
	}
	for _, k := range o.with { // k is invalid without the first key of either
		pairs = append(pairs, &schema{Required: []string{k}, Not: &schema{Required: o.either[:1]}})
	}
	switch len(pairs) {
	case 0:
		return nil
	case 1:
		return pairs[0]
	}
	return &schema{AnyOf: pairs}
}

func text(pattern string) *schema { return &schema{Type: "string", Pattern: pattern} }

func (d definitions) shape(v shape) *schema {
	if len(v.words) > 0 && v.kind != aWord {
		words := v.words
		v.words = nil
		return &schema{AnyOf: []*schema{{Enum: words}, d.shape(v)}}
	}
	switch v.kind {
	case aVersion:
		return &schema{Const: FormatVersion}
	case aWord:
		return &schema{Enum: v.words}
	case aNumber:
		return &schema{Type: "integer", Minimum: v.low, Maximum: v.high}
	case aMoney:
		return &schema{Type: "number", Maximum: maxUSD}
	case aTruth:
		return &schema{Type: "boolean"}
	case aCommand:
		d["command"] = &schema{Description: "A text for the shell (sh -c), or a list of arguments that no shell sees.",
			AnyOf: []*schema{text(notBlank), {Type: "array", Items: &schema{Type: "string"}, MinItems: 1}}}
		return &schema{Ref: "#/definitions/command"}
	case aList:
		return &schema{Type: "array", Items: d.shape(*v.of), MinItems: 1}
	case aMap:
		return &schema{Type: "object", PropertyNames: text(v.pattern), Additional: d.shape(*v.of)}
	case anObject:
		if d[v.object.name] == nil {
			d[v.object.name] = d.object(v.object)
		}
		ref := &schema{Ref: "#/definitions/" + v.object.name}
		if short := v.object.short; short != "" {
			return &schema{AnyOf: []*schema{d.shape(v.object.key(short).value), ref}}
		}
		return ref
	default:
		return text(v.pattern)
	}
}

// defaultValue returns the default of a key as it would be in a file, nil for none.
func defaultValue(k *key) any {
	if k.fallback == "" {
		return nil
	}
	return plainValue(&yaml.Node{Kind: yaml.ScalarNode, Value: k.fallback})
}

// IndentedJSON returns a value as indented JSON. The text is stable, so that its digest can be compared.
func IndentedJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // commands often contain < > &, which must stay readable
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // cannot fail: the values are texts, numbers and booleans
	}
	return b.Bytes()
}
