/**
 * Stands in for curl on machines without it, with the options of README.md and docs/tour.md: -s, -H, -X, -u and -d.
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
    d: { type: 'string', short: 'd' },
  },
})
const [url = '', ...more] = positionals
if (more.length > 0) throw new Error(`one address at a time, not also ${more.join(' ')}`)

const headers = new Headers()
if (values.d !== undefined) headers.set('Content-Type', 'application/x-www-form-urlencoded')
if (values.u !== undefined) headers.set('Authorization', `Basic ${Buffer.from(values.u).toString('base64')}`)
for (const header of values.H) {
  const colon = header.indexOf(':')
  headers.set(header.slice(0, colon), header.slice(colon + 1).trim())
}
const response = await fetch(url, {
  method: values.X ?? (values.d === undefined ? 'GET' : 'POST'),
  headers,
  redirect: 'manual',
  ...(values.d !== undefined && { body: values.d }),
})
process.stdout.write(Buffer.from(await response.arrayBuffer()))
