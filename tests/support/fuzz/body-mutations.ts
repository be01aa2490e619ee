import { deflateSync, gzipSync } from 'node:zlib'
import { oddString, oddTokens, oddValue } from './odd-values.ts'
import type { Random } from './random.ts'
import { setHeader } from './request-builder.ts'
import type { Mutation } from './request-mutations.ts'

type Container = Record<string | number, unknown>

/** Every member and element of a JSON value, with what holds it. */
function placesIn(value: unknown, found: { holder: Container; key: string | number }[] = []) {
  if (typeof value !== 'object' || value === null || found.length > 500) return found
  const keys = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value)
  for (const key of keys) {
    found.push({ holder: value as Container, key })
    placesIn((value as Container)[key], found)
  }
  return found
}

/** The value, or one of the objects in it. */
function someObject(value: unknown, random: Random): Container | undefined {
  const all = [value, ...placesIn(value).map(({ holder, key }) => holder[key])]
  const objects = all.filter((each) => typeof each === 'object' && each !== null && !Array.isArray(each))
  return objects.length > 0 ? (random.pick(objects) as Container) : undefined
}

/** Of the body while it is a value. */
export const valueMutations: Record<string, Mutation> = {
  'odd value': (draft, random) => {
    const places = placesIn(draft.json)
    if (places.length === 0) draft.json = oddValue(random)
    else {
      const { holder, key } = random.pick(places)
      holder[key] = oddValue(random)
    }
  },
  'odd body': (draft, random) => {
    draft.json = oddValue(random) ?? null
  },
  'missing member': (draft, random) => {
    const object = someObject(draft.json, random)
    const names = Object.keys(object ?? {})
    if (object && names.length > 0) delete object[random.pick(names)]
  },
  'extra member': (draft, random) => {
    const names = [
      'record_id',
      'tenant_id',
      'is_purged',
      'created_at',
      'provenance_hash',
      'constructor',
      'toString',
      'x',
    ]
    const object = someObject(draft.json, random)
    if (object) object[random.chance(0.7) ? random.pick(names) : oddString(random).slice(0, 200)] = oddValue(random)
  },
  'array for value': (draft, random) => {
    const places = placesIn(draft.json)
    if (places.length === 0) return
    const { holder, key } = random.pick(places)
    holder[key] = random.chance(0.5) ? [holder[key]] : { value: holder[key] }
  },
  'many elements': (draft, random) => {
    const arrays = placesIn(draft.json).map(({ holder, key }) => holder[key])
    const array = [draft.json, ...arrays].find(Array.isArray) as unknown[] | undefined
    const element = array?.[0] ?? 'x'
    const count = random.pick([257, 1001])
    if (array) for (let index = 0; index < count; index += 1) array.push(element)
  },
}

/** Of the body while it is text. */
export const textMutations: Record<string, Mutation> = {
  truncated: (draft, random) => {
    if (draft.text) draft.text = draft.text.slice(0, random.int(0, draft.text.length - 1))
  },
  'odd token': (draft, random) => {
    const values = [...(draft.text ?? '').matchAll(/(?<=:|\[|,|^)("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/g)]
    const found = values.length > 0 ? random.pick(values) : undefined
    const token = random.pick(oddTokens)
    if (!draft.text || !found) draft.text = token
    else draft.text = draft.text.slice(0, found.index) + token + draft.text.slice(found.index + found[0].length)
  },
  'repeated member': (draft, random) => {
    const members = [...(draft.text ?? '').matchAll(/"[a-z_]+":(?:"[^"]*"|\d+)/g)].map(([member]) => member)
    const member = members.length > 0 ? random.pick(members) : '"a":1'
    draft.text = draft.text?.replace('{', `{${member},${random.chance(0.3) ? '"__proto__":{"polluted":1},' : ''}`)
  },
  'character changed': (draft, random) => {
    if (!draft.text) return
    const at = random.int(0, draft.text.length - 1)
    const character = random.pick(['"', '{', '}', '[', ',', ':', '\\', '\0', '&', '=', '%', '\ufeff', '0', '-', 'e'])
    draft.text = draft.text.slice(0, at) + character + draft.text.slice(at + random.int(0, 1))
  },
  surrounded: (draft, random) => {
    const [before = '', after = ''] = random.pick([
      ['\ufeff'],
      ['', '{}'],
      ['', 'x'],
      [' '.repeat(5000)],
      ['[', ']'],
      ['//\n'],
    ])
    draft.text = `${before}${draft.text ?? ''}${after}`
  },
  empty: (draft) => {
    draft.text = ''
  },
}

/** Of the body as bytes. */
export const byteMutations: Record<string, Mutation> = {
  'invalid UTF-8': (draft, random) => {
    const bad = random.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x80]])
    const bytes = draft.bytes ?? Buffer.from('{"a":"b"}')
    const at = random.int(0, bytes.length)
    draft.bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(bad), bytes.subarray(at)])
  },
  compressed: (draft) => {
    if (draft.bytes) draft.bytes = gzipSync(draft.bytes)
    setHeader(draft, 'Content-Encoding', 'gzip')
  },
  'bad gzip': (draft, random) => {
    const whole = gzipSync(draft.bytes ?? Buffer.from('{}'))
    const broken = Buffer.from(whole)
    broken[random.int(0, broken.length - 1)]! ^= 1 << random.int(0, 7)
    const bad = [whole.subarray(0, random.int(0, whole.length - 1)), broken, deflateSync('{}'), Buffer.from('{}')]
    draft.bytes = random.pick([...bad, Buffer.concat([whole, whole]), Buffer.concat([whole, Buffer.from('x')])])
    setHeader(draft, 'Content-Encoding', 'gzip')
  },
  'gzip bomb': (draft) => {
    draft.bytes = gzipBomb()
    setHeader(draft, 'Content-Encoding', 'gzip')
  },
  'too large': (draft, random) => {
    draft.bytes = Buffer.alloc(random.pick([1024 * 1024 + 1, 3 * 1024 * 1024]), '[')
  },
  'as another charset': (draft) => {
    if (draft.bytes) draft.bytes = Buffer.from(draft.bytes.toString(), 'utf16le')
  },
}

let bomb: Buffer | undefined

/** 64 MiB of brackets in 64 KiB. */
function gzipBomb(): Buffer {
  bomb ??= gzipSync(Buffer.alloc(64 * 1024 * 1024, '['))
  return bomb
}
