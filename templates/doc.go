// Package templates holds the texts that placet writes for people and agents:
// Markdown templates and sentences, embedded, in English, Korean and Japanese.
//
// A template is templates/<language>/<family>/<name>.md and is rendered by [Render]; the
// sentences are in templates/<language>/words.json and are read by [Text] and [Phrase]. A
// [Message] is a sentence before its language is known, and [Errorf] makes an error of one.
// A text that a language lacks is English. A template that a language lacks is the English
// one with that language's words in it, so a form has the same structure in every language.
//
// The data of each template is a struct of this package, or of its family:
//
//	kernel/form    FormData{FormParts, Prompt, FreeText, Several, ItemsAsk}
//	kernel/block   BlockData{FormParts, Head, Shown[]{Label, Value}, OptionsAsk, ItemsAsk, CommentAsk}
//	               FormParts{First, Title, Facts[]{Label, Value}, Lines[], Artifacts[]{Path, Link, State},
//	               Texts[]{Title, Text, Between, Tail, Begin, End}, Context, AnswerMark, CommentMark, Options[], Items[], Submit}
//	faber/resume   ResumeData{RunID, Revision, Phase, Step, Feedback, Action, Position, Refused, Stop, Comment}
//	faber/context  ContextData{RunID, Revision, Sections[]{Title, Severity, Body}}
//	faber/issue-comment  IssueCommentData{RunID, Short, RequestID, Phase, Step, Requested, Changed, Prompt, Summary,
//	               Artifacts[]{Shown, Missing}, Options[]{Number, Name, Says}, Approves, First}
//	faber/reply    IssueReplyData{ID, Refused, Options, Cancelled, Lines[]{Name, Value}}
//	afl/*          types of package afl, whose fields and methods the templates name
//	ask/answer     AskAnswerData{Title, Line, Comment, Artifacts[]{Label, Value}}
//	pal/page       PalPageData{First, Title, Facts[]{Label, Value}, Sections[]{Title, Body}}
//	optimizer/level10  OptimizerLevel10Data{Summary[]{Line, Below[]}, Metrics[]{Name, Current, Against, Status}, Anomalies[], Last}
//	optimizer/level20  OptimizerLevel20Data{Summary[]{Line, Below[]}, Trends[], Patterns[], Outliers[], Suggestions[], Last}
//	optimizer/level30  OptimizerLevel30Data{Summary[]{Line, Below[]}, KPI[]{Name, Current, Against, Status}, Short[], High[],
//	               Normal[], Next[], Last}
//
// Text that comes from files is data. It reaches a template unchanged and is quoted there,
// by [Quote], [Fence] or [Inline]; the comment of a member that holds Markdown made by
// placet says so.
package templates
