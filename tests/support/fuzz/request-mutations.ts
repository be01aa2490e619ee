import type { FuzzFixtures } from './fuzz-fixtures.ts'
import { oddString, percentEncode } from './odd-values.ts'
import type { Random } from './random.ts'
import { headerOf, type RequestDraft, setHeader } from './request-builder.ts'

export type Mutation = (draft: RequestDraft, random: Random, world: FuzzFixtures) => void

/** What a header may hold that the sender's HTTP library lets pass. */
const headerText = (text: string) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 3000)

/** Something short and odd that can stand in a request line as it is. */
const oddEncodings = [
  '%',
  '%2',
  '%zz',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%00',
  '%0d%0a',
  '%u0041',
  '%25%32%66',
  '%E2%80%AE',
]

export const accessMutations: Record<string, Mutation> = {
  'no token': (draft) => setHeader(draft, 'Authorization', undefined),
  'garbage token': (draft, random, { tokens }) => {
    const [head = '', claims = '', signature = ''] = tokens.acme.split('.')
    const unsigned = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
    const garbage = [
      'Bearer',
      'Bearer ',
      `Bearer ${unsigned}.${claims}.`,
      `Bearer ${head}.${claims}.${signature.slice(1)}A`,
      `Bearer ${head}.${claims}`,
      `Bearer ${'x'.repeat(random.int(1, 7000))}`,
      'Basic YTpi',
      'Basic %%%',
      `Bearer ${tokens.acme} ${tokens.acme}`,
      headerText(oddString(random)),
    ]
    setHeader(draft, 'Authorization', random.pick(garbage))
  },
  'two tokens': (draft, _random, { tokens }) => draft.headers.push(['Authorization', `Bearer ${tokens.globex}`]),
  'token of another tenant': (draft, _random, { tokens }) => {
    setHeader(draft, 'Authorization', `Bearer ${tokens.globex}`)
  },
  'token with few scopes': (draft, random, { tokens }) => {
    setHeader(draft, 'Authorization', `Bearer ${random.pick(tokens.narrow)}`)
    setHeader(draft, 'X-Service-Tenant', 'acme')
  },
  'other tenant': (draft, random) => {
    const slugs = ['globex', 'nowhere', 'ACME', 'acme,acme', '', ' ', headerText(oddString(random)), undefined]
    setHeader(draft, 'X-Service-Tenant', random.pick(slugs))
  },
  'two tenants': (draft) => draft.headers.push(['X-Service-Tenant', 'acme']),
}

export const headerMutations: Record<string, Mutation> = {
  'odd header': (draft, random) => {
    const names = [
      'If-Match',
      'Idempotency-Key',
      'X-Service-Request-ID',
      'Accept',
      'Accept-Encoding',
      'Content-Encoding',
    ]
    const name = random.pick([...names, 'Content-Type', 'Origin', 'Cookie', 'X-Forwarded-For', 'Range'])
    setHeader(draft, name, headerText(oddString(random)))
  },
  'repeated header': (draft, random) => {
    const name = random.pick(['If-Match', 'Idempotency-Key', 'X-Service-Request-ID', 'Accept', 'Content-Type'])
    draft.headers.push([name, headerOf(draft.headers, name) ?? '*'], [name, 'other'])
  },
  'other version': (draft, random) => {
    const versions = [
      'application/vnd.service.v2+json',
      'application/vnd.service.v1+json',
      'text/html',
      '*/*;q=0',
      'a/b/c',
    ]
    setHeader(draft, 'Accept', random.pick([...versions, `application/vnd.service.v${'9'.repeat(500)}+json`]))
  },
  'odd If-Match': (draft, random) => {
    const tags = ['""', '"', 'W/', 'W/"x"', '*, "x"', '"a" "b"', `"${'x'.repeat(3000)}"`, '"\xff"', ',,,,', '*']
    setHeader(draft, 'If-Match', random.pick(tags))
  },
  'many headers': (draft, random) => {
    for (let index = random.int(20, 150); index > 0; index -= 1) draft.headers.push([`X-Many-${index}`, 'v'])
  },
  'long header': (draft, random) => draft.headers.push(['X-Long', 'v'.repeat(random.int(8_000, 64_000))]),
  'other content type': (draft, random) => {
    const types = [
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
      'application/jsonx',
      'a',
      '/',
      '',
    ]
    const more = ['application/json;charset=UTF-8', 'multipart/form-data; boundary=x', 'application/json, text/plain']
    setHeader(draft, 'Content-Type', random.pick([...types, ...more, undefined]))
  },
  'other content encoding': (draft, random) => {
    setHeader(draft, 'Content-Encoding', random.pick(['br', 'deflate', 'gzip, gzip', 'gzip', 'identity', 'zstd', 'x']))
  },
  'other method': (draft, random) => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY']
    draft.method = random.pick(methods.filter((method) => method !== draft.method))
  },
}

export const addressMutations: Record<string, Mutation> = {
  'odd path parameter': (draft, random) => {
    const value = random.chance(0.3) ? random.pick(oddEncodings) : percentEncode(oddString(random)).slice(0, 6000)
    const parts = draft.path.split('/')
    const at = random.chance(0.7) ? 5 : random.int(1, parts.length - 1)
    if (at < parts.length) parts[at] = random.chance(0.8) ? value : `${parts[at]}${value}`
    draft.path = parts.join('/')
  },
  'id that does not exist': (draft, random) => {
    const hex = Array.from({ length: 32 }, () => random.int(0, 15).toString(16)).join('')
    const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    draft.path = draft.path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|mover-\d+/i, random.chance(0.5) ? id : id.toUpperCase())
  },
  'odd address': (draft, random) => {
    const { path } = draft
    const odd = [`${path}/`, `/${path}`, `${path}//`, path.toUpperCase(), `${path};a=b`, `${path}/..`, `${path}%2f`]
    const verbs = [`${path}:restore`, `${path}%3averify`, path.replaceAll(':', '%3A'), `${path}:`]
    const files = ['/reference/../../package.json', '/reference/%2e%2e%2fpackage.json', '/errors/__proto__', '/*']
    draft.path = random.pick([...odd, ...verbs, ...files, `/${'a'.repeat(9000)}`])
  },
  'unknown query parameter': (draft, random) => {
    const name = random.pick([
      'nope',
      '__proto__',
      'constructor',
      'record_type[]',
      'toString',
      'limit ',
      oddString(random),
    ])
    draft.query.push(`${percentEncode(name).slice(0, 2000)}=${percentEncode(oddString(random)).slice(0, 3000)}`)
  },
  'repeated query parameter': (draft, random) => {
    const pair = draft.query[0] ?? 'limit=1'
    draft.query.push(pair, random.chance(0.5) ? pair : `${pair}0`)
  },
  'odd query value': (draft, random) => {
    const names = draft.operation.parameters.filter((each) => each.in === 'query').map((each) => each.name)
    const name = names.length > 0 ? random.pick(names) : 'verify'
    const value = random.chance(0.3) ? random.pick(oddEncodings) : percentEncode(oddString(random)).slice(0, 6000)
    draft.query = [...draft.query.filter((pair) => !pair.startsWith(`${name}=`)), `${name}=${value}`]
  },
  'odd query number': (draft, random) => {
    const name = random.pick(['limit', 'depth'])
    const value = random.pick([
      '0',
      '-1',
      '1001',
      '1e3',
      '1.5',
      '0x10',
      '',
      ' 5',
      '+5',
      '5 ',
      '٣',
      '999999999999999999',
      '1',
    ])
    draft.query = [...draft.query.filter((pair) => !pair.startsWith(`${name}=`)), `${name}=${percentEncode(value)}`]
  },
  'bad cursor': (draft, random, { namedFor }) => {
    const cursor = String(namedFor('')('cursor', random))
    const at = random.int(0, cursor.length - 1)
    const changed = `${cursor.slice(0, at)}${cursor[at] === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`
    const bad = [
      changed,
      `${cursor}A`,
      cursor.slice(1),
      '',
      '=',
      'bnVsbA',
      'A'.repeat(5000),
      percentEncode(oddString(random)),
    ]
    draft.query = [
      ...draft.query.filter((pair) => !pair.startsWith('cursor=')),
      `cursor=${random.pick(bad).slice(0, 6000)}`,
    ]
  },
  'odd query text': (draft, random) => {
    draft.query.push(
      random.pick(['&&&', '=', '==', '=a', 'a', '%', '%=%', '?', '&a&a', 'a[b]=c', '+', ...oddEncodings]),
    )
  },
}
