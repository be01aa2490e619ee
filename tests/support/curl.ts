/**
 * Stands in for curl on machines without it, with the options of the documentation: -s, -S, -H, -X, -u, -d, -G and
 * --data-urlencode.
 * Rejects other options, so that these pages cannot depend on them.
 */
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    s: { type: 'boolean', short: 's' },
    H: { type: 'string', short: 'H', multiple: true, default: [] },
    X: { type: 'string', short: 'X' },
    u: { type: 'string', short: 'u' },
    S: { type: 'boolean', short: 'S' },
    d: { type: 'string', short: 'd', multiple: true, default: [] },
    G: { type: 'boolean', short: 'G' },
    'data-urlencode': { type: 'string', multiple: true, default: [] },
  },
})
const [url = '', ...more] = positionals
if (more.length > 0) throw new Error(`one address at a time, not also ${more.join(' ')}`)

const headers = new Headers()
const encoded = values['data-urlencode'].map(
  (part) => new URLSearchParams([part.split(/=(.*)/s, 2) as [string, string]]),
)
const data = [...values.d, ...encoded].join('&')
const hasBody = data !== '' && !values.G
if (hasBody) headers.set('Content-Type', 'application/x-www-form-urlencoded')
if (values.u !== undefined) headers.set('Authorization', `Basic ${Buffer.from(values.u).toString('base64')}`)
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
process.stdout.write(Buffer.from(await response.arrayBuffer()))
