package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func callOf(tool, arguments string) *sdk.CallToolRequest {
	return &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: tool, Arguments: json.RawMessage(arguments)}}
}

func seconds(n int) *int { return &n }

// Arguments that hosts spoil are read as they were meant.
func TestK11ArgumentsThatClientsSpoilAreRead(t *testing.T) {
	ab := []Option{{ID: "a"}, {ID: "b"}}
	for arguments, want := range map[string]Question{
		`{"question":"B?","options":"[{\"id\":\"a\"},{\"id\":\"b\"}]"}`:                                          {Question: "B?", Options: ab},
		`{"question":"B?","options":"[\"a\",\"b\"]"}`:                                                            {Question: "B?", Options: ab},
		`{"question":"B?","options":["a","b"]}`:                                                                  {Question: "B?", Options: ab},
		`{"question":"B?","options":["a",{"id":"b"}]}`:                                                           {Question: "B?", Options: ab},
		`{"question":"B?","options":["{\"id\":\"a\"}","b"]}`:                                                     {Question: "B?", Options: ab},
		`{"question":"B?","options":[{"id":"a","description":null,"comment":"true"},{"id":"b","comment":null}]}`: {Question: "B?", Options: []Option{{ID: "a", Comment: true}, {ID: "b"}}},
		`{"question":"B?","options":null,"context":null,"wait_seconds":null,"type":null,"tags":null}`:            {Question: "B?"},
		`{"question":"B?","artifacts":"[\"plan.md\"]","wait_seconds":"60"}`:                                      {Question: "B?", Artifacts: []string{"plan.md"}, Wait: seconds(60)},
		`{"question":"B?","tags":" [\"x\"]\n","wait_seconds":0}`:                                                 {Question: "B?", Tags: []string{"x"}, Wait: seconds(0)},
		`"{\"question\":\"B?\",\"options\":[\"a\",\"b\"]}"`:                                                      {Question: "B?", Options: ab},
		`{"question":"[\"a\"]","context":"{}"}`:                                                                  {Question: `["a"]`, Context: "{}"},
		`{"question":"60","key":"true"}`:                                                                         {Question: "60", Key: "true"},
	} {
		var q Question
		if err := readArguments(arguments, "ask_human", &q); err != nil || !reflect.DeepEqual(q, want) {
			t.Errorf("%s: %+v %v", arguments, q, err)
		}
	}
	var p Progress
	if err := readArguments(`{"message":"m","percent":"12.5","run":null}`, "report_progress", &p); err != nil || p.Percent == nil || *p.Percent != 12.5 {
		t.Errorf("%+v %v", p, err)
	}
}

func readArguments(text, tool string, into any) error { return arguments(callOf(tool, text), into) }

// What does not fit is refused with an example, and nothing is decoded twice.
func TestK11WhatDoesNotFitIsRefusedWithAnExample(t *testing.T) {
	for arguments, example := range map[string]string{
		`{"question":"B?","options":"a, b"}`:                                  `"options": [{"id": "deploy"`,
		`{"question":"B?","options":"\"[\\\"a\\\"]\""}`:                       `"options": [{"id": "deploy"`,
		`{"question":"B?","options":["Deploy now!"]}`:                         `"options": [{"id": "deploy"`,
		`{"question":"B?","options":[null]}`:                                  `"options": [{"id": "deploy"`,
		`{"question":"B?","options":[7]}`:                                     `"options": [{"id": "deploy"`,
		`{"question":"B?","artifacts":"plan.md"}`:                             `"artifacts": ["plan.md"]`,
		`{"question":"B?","wait_seconds":"a minute"}`:                         `"wait_seconds": 60`,
		`{"question":"B?","wait_seconds":""}`:                                 `"wait_seconds": 60`,
		`{"question":null}`:                                                   `"question": "Deploy`,
		`{"context":"x"}`:                                                     `"question": "Deploy`,
		`{"question":"B?","options":[{"id":"a","comment":"yes"},{"id":"b"}]}`: `"options": [{"id": "deploy"`,
	} {
		var q Question
		if err := readArguments(arguments, "ask_human", &q); err == nil || !strings.Contains(err.Error(), "; for example "+example) {
			t.Errorf("%s: %+v %v", arguments, q, err)
		}
	}
}
