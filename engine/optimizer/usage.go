package optimizer

import (
	"maps"
	"slices"

	"placet/schemas"
)

// usageDocument is the front matter of a usage document, as far as it is read.
type usageDocument struct {
	KPI *struct {
		GateThreshold *float64           `json:"gate_threshold"`
		Metrics       map[string]Measure `json:"metrics"`
	} `json:"kpi"`
}

// decodeUsage reads the kpi block of a usage document's front matter, nil where it
// has none. The metrics are sorted by name. The error is a *schemas.Error, whose
// lines are those of the document.
func decodeUsage(path string, front []byte) (*KPI, error) {
	var doc usageDocument
	if err := schemas.DecodeYAML("optimizer/usage", path, front, &doc, schemas.YAMLLimits{}); err != nil {
		return nil, err
	}
	if doc.KPI == nil {
		return nil, nil
	}
	kpi := &KPI{GateThreshold: doc.KPI.GateThreshold}
	for _, name := range slices.Sorted(maps.Keys(doc.KPI.Metrics)) {
		m := doc.KPI.Metrics[name]
		m.Name = name
		kpi.Metrics = append(kpi.Metrics, m)
	}
	return kpi, nil
}
