package sidebyside

// keywords are the words that have a colour, by language of internal/source.
var keywords = map[string]string{
	"go": `break case chan const continue default defer else fallthrough for func go goto if import interface map package
		range return select struct switch type var nil true false`,
	"python": `and as assert async await break class continue def del elif else except finally for from global if import in
		is lambda nonlocal not or pass raise return try while with yield None True False`,
	"script": `as async await break case catch class const continue default delete do else enum export extends finally for
		from function if implements import in instanceof interface let new of return static super switch this throw try type
		typeof var void while yield null undefined true false`,
	"rust": `as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub
		ref return self Self static struct super trait type unsafe use where while true false`,
	"java": `abstract break case catch class const continue data def default do else enum extends final finally for fun if
		implements import in instanceof interface namespace new object override package private protected public return
		sealed static struct super switch this throw throws trait try using val var void when while null true false`,
	"php": `abstract and as break case catch class const continue default do echo else elseif extends final finally fn for
		foreach function if implements instanceof interface match namespace new or private protected public readonly require
		return static switch throw trait try use while yield null true false`,
	"ruby": `alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue
		retry return self super then true undef unless until when while yield`,
}
