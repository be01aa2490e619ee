/**
 * Stands in for curl on machines without it, with the options of the documentation: -s, -S, -H, -X, -d, -G, -b, -c,
 * -o, -w, --data-binary, --data-urlencode and --config. Rejects other options, so that these pages cannot depend on them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    s: { type: 'boolean', short: 's' },
    H: { type: 'string', short: 'H', multiple: true, default: [] },
    X: { type: 'string', short: 'X' },
    S: { type: 'boolean', short: 'S' },
    d: { type: 'string', short: 'd', multiple: true, default: [] },
    G: { type: 'boolean', short: 'G' },
    b: { type: 'string', short: 'b' },
    c: { type: 'string', short: 'c' },
    o: { type: 'string', short: 'o' },
    w: { type: 'string', short: 'w' },
    config: { type: 'string' },
    'data-binary': { type: 'string', multiple: true, default: [] },
    'data-urlencode': { type: 'string', multiple: true, default: [] },
  },
})
const [url = '', ...more] = positionals
if (more.length > 0) throw new Error(`one address at a time, not also ${more.join(' ')}`)

const headers = new Headers()
const encoded = values['data-urlencode'].map(
  (part) => new URLSearchParams([part.split(/=(.*)/s, 2) as [string, string]]),
)
const data = [...values.d, ...values['data-binary'], ...encoded].join('&')
const hasBody = data !== '' && !values.G
if (hasBody) headers.set('Content-Type', 'application/x-www-form-urlencoded')
if (values.config === '-') {
  const [, user = ''] = /^user = "(.*)"$/.exec(readFileSync(0, 'utf8').trim()) ?? []
  headers.set('Authorization', `Basic ${Buffer.from(user).toString('base64')}`)
}
if (values.b !== undefined && existsSync(values.b)) headers.set('Cookie', readFileSync(values.b, 'utf8'))
for (const header of values.H) {
  const colon = header.indexOf(':')
  headers.set(header.slice(0, colon), header.slice(colon + 1).trim())
}
const response = await fetch(values.G ? `${url}?${data}` : url, {
  method: values.X ?? (hasBody ? 'POST' : 'GET'),
  headers,
  redirect: 'manual',
  ...(hasBody && { body: data }),
})
if (values.c !== undefined) keepCookies(values.c, response.headers.getSetCookie())
const bytes = Buffer.from(await response.arrayBuffer())
if (values.o === undefined) process.stdout.write(bytes)
else writeFileSync(values.o, bytes)
if (values.w !== undefined) {
  process.stdout.write(values.w.replaceAll('%{http_code}', String(response.status)).replaceAll('\\n', '\n'))
}

/** Adds cookies to a file, which has them as the header of a request. */
function keepCookies(file: string, lines: readonly string[]): void {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').split('; ').filter(Boolean) : []
  const cookies = new Map(
    [...kept, ...lines.map((line) => line.split(';')[0]!)].map((pair) => [pair.split('=')[0], pair]),
  )
  writeFileSync(file, [...cookies.values()].join('; '))
}
