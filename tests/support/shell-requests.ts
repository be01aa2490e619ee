/** A request that a line of a shell sends. */
export interface ShellRequest {
  method: string
  path: string
  query: URLSearchParams
  body: string | undefined
}

/** Stands for the value of a variable: an id that most schemas accept. */
const valueOfVariables = '01a21e1a-5c83-7dbe-af98-4c85f9ded620'
/** Options of curl that have a value. */
const withValue = ['-H', '-X', '-d', '-u', '-o', '-w', '-b', '-c', '-C', '--data-binary', '--data-urlencode']

/** Returns the requests to the API that curl, or a function of the page that calls it, sends in a block of a shell. */
export function requestsIn(code: string): ShellRequest[] {
  return commandsIn(code).flatMap((words) => {
    const at = words.findIndex((word) => ['curl', 'call', 'api'].includes(word))
    const request = at < 0 ? undefined : requestOf(words.slice(at))
    return request ? [request] : []
  })
}

/** Splits lines into commands, and these into words without quotation marks. */
function commandsIn(code: string): string[][] {
  const commands: string[][] = [[]]
  const text = code.replace(/\\\n/g, ' ')
  const tokens = /#[^\n]*|((?:'[^']*'|"(?:\\.|[^"\\])*"|\$\([^'"\s]*\)|[^\s'"|;()])+)|([\n|;()])/g
  // A command within $( ) is a command of its own; inside of quotation marks none of these pages has one.
  for (const [, word, end] of text.replaceAll('$(', ' ( ').matchAll(tokens)) {
    if (end !== undefined) commands.push([])
    else if (word !== undefined) commands.at(-1)!.push(unquoted(word))
  }
  return commands
}

function unquoted(word: string): string {
  return word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\$\{?[A-Z_]+\}?/g, (all, single, double) => {
    if (single !== undefined) return single
    if (double !== undefined) return String(double).replace(/\$\{?[A-Z_]+\}?/g, variable)
    return variable(all)
  })
}

const values: Record<string, string> = { HUB: 'https://hub.example.com', TENANT: 'acme' }
const variable = (name: string) => values[name.replace(/[${}]/g, '')] ?? valueOfVariables

function requestOf([program, ...words]: string[]): ShellRequest | undefined {
  const options: [string, string][] = []
  const rest: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!
    if (withValue.includes(word)) options.push([word, words[++at] ?? ''])
    else if (/^-[a-zA-Z]+$/.test(word)) options.push([word, ''])
    else rest.push(word)
  }
  const valuesOf = (...names: string[]) => options.filter(([name]) => names.includes(name)).map(([, value]) => value)
  const isInQuery = options.some(([name]) => name === '-G')
  const data = valuesOf('-d', '--data-binary', '--data-urlencode')
  // The function of docs/onboarding.md has method, path and body in this order.
  if (program === 'api') {
    const [method = '', path = '', body] = rest
    return path.startsWith('/') ? { method, body, ...addressOf(path) } : undefined
  }
  const address = rest.find((word) => /^https?:|^\//.test(word))
  // Credentials by -u are for the token endpoint, whose body is a form.
  if (address === undefined || address.includes('$') || valuesOf('-u').length > 0) return undefined
  const { path, query } = addressOf(address)
  if (isInQuery) for (const part of data) query.append(...(part.split(/=(.*)/s, 2) as [string, string]))
  const body = isInQuery ? undefined : data[0]
  return { method: valuesOf('-X')[0] ?? (body === undefined ? 'GET' : 'POST'), path, query, body }
}

function addressOf(address: string) {
  const { pathname, searchParams } = new URL(address, 'https://hub.example.com')
  return { path: pathname, query: searchParams }
}
