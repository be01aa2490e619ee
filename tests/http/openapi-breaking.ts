/**
 * Differences between two descriptions of the API that would break a client of the first. Requests are refused when
 * they have what is not described, so there everything taken away or narrowed breaks; in answers everything that a
 * client may rely on, and the same in the messages of webhooks.
 */

type Json = null | boolean | number | string | Json[] | { [member: string]: Json }
type Members = { [member: string]: Json }
type Side = 'request' | 'answer'

export function breakingDifferences(before: unknown, after: unknown): string[] {
  const found: string[] = []
  const newer = members(after)
  for (const [path, item] of entriesOf(members(before).paths)) {
    for (const [method, operation] of entriesOf(item)) {
      const where = `${method.toUpperCase()} ${path}`
      const next = members(members(members(newer.paths)[path])[method])
      if (Object.keys(next).length === 0) found.push(`${where} is gone`)
      else compareOperations(members(operation), next, where, found)
    }
  }
  compareMessages(members(before).webhooks, members(after).webhooks, found)
  return found
}

/** What the service sends is to its receivers what an answer is to callers. */
function compareMessages(before: Json | undefined, after: Json | undefined, found: string[]): void {
  for (const [kind, item] of entriesOf(before)) {
    const [older, newer] = [members(members(item).post), members(members(members(after)[kind]).post)]
    const where = `message ${kind}`
    if (Object.keys(newer).length === 0) {
      found.push(`${where} is gone`)
      continue
    }
    const namesOf = (operation: Members) => list(operation.parameters).map((parameter) => members(parameter).name)
    for (const name of namesOf(older)) {
      if (!namesOf(newer).includes(name)) found.push(`${where}: header ${name} is gone`)
    }
    compareContent(members(older.requestBody), members(newer.requestBody), 'answer', where, found)
  }
}

function compareOperations(before: Members, after: Members, where: string, found: string[]): void {
  if (before.operationId !== after.operationId) found.push(`${where} has another operationId`)
  compareParameters(before, after, where, found)
  compareBodies(members(before.requestBody), members(after.requestBody), where, found)
  compareAnswers(members(before.responses), members(after.responses), where, found)
  compareSecurity(before.security, after.security, where, found)
}

function compareParameters(before: Members, after: Members, where: string, found: string[]): void {
  const keyed = (operation: Members) =>
    new Map(
      list(operation.parameters).map((parameter) => [
        `${members(parameter).in ?? ''} ${members(parameter).name ?? members(parameter).$ref}`,
        members(parameter),
      ]),
    )
  const [older, newer] = [keyed(before), keyed(after)]
  for (const [key, parameter] of older) {
    const next = newer.get(key)
    if (next === undefined) found.push(`${where}: parameter ${key} is gone`)
    else compareSchemas(parameter.schema, next.schema, 'request', `${where}: parameter ${key}`, found)
  }
  for (const [key, parameter] of newer) {
    if (parameter.required === true && older.get(key)?.required !== true)
      found.push(`${where}: parameter ${key} is now required`)
  }
}

function compareBodies(before: Members, after: Members, where: string, found: string[]): void {
  if (after.required === true && before.required !== true) found.push(`${where}: the body is now required`)
  compareContent(before, after, 'request', `${where}: body`, found)
}

function compareAnswers(before: Members, after: Members, where: string, found: string[]): void {
  for (const [status, answer] of entriesOf(before)) {
    if (!status.startsWith('2')) continue
    const next = after[status]
    if (next === undefined) {
      found.push(`${where}: answer ${status} is gone`)
      continue
    }
    for (const [name] of entriesOf(members(answer).headers)) {
      if (members(members(next).headers)[name] === undefined)
        found.push(`${where}: header ${name} of answer ${status} is gone`)
    }
    compareContent(members(answer), members(next), 'answer', `${where}: answer ${status}`, found)
  }
}

function compareContent(before: Members, after: Members, side: Side, where: string, found: string[]): void {
  for (const [mediaType, content] of entriesOf(before.content)) {
    const next = members(after.content)[mediaType]
    if (next === undefined) found.push(`${where} is no more ${mediaType}`)
    else compareSchemas(members(content).schema, members(next).schema, side, where, found)
  }
}

/** Who could call before must be able to still: each old set of scopes covers some new one. */
function compareSecurity(before: Json | undefined, after: Json | undefined, where: string, found: string[]): void {
  const alternatives = list(after).map(members)
  if (alternatives.length === 0) return
  if (list(before).length === 0) {
    found.push(`${where} now needs a credential`)
    return
  }
  for (const old of list(before).map(members)) {
    const suffices = alternatives.some((next) =>
      entriesOf(next).every(([scheme, scopes]) => {
        const held = old[scheme] === undefined ? undefined : list(old[scheme])
        return held !== undefined && list(scopes).every((scope) => held.includes(scope))
      }),
    )
    if (!suffices) found.push(`${where}: ${JSON.stringify(old)} no longer suffices`)
  }
}

function compareSchemas(
  before: Json | undefined,
  after: Json | undefined,
  side: Side,
  where: string,
  found: string[],
): void {
  const [older, newer] = [members(before), members(after)]
  if (JSON.stringify(older) === JSON.stringify(newer)) return
  compareTypes(older, newer, side, where, found)
  compareEnumerations(older, newer, side, where, found)
  if (side === 'request') compareBounds(older, newer, where, found)
  compareMembers(older, newer, side, where, found)
  if (older.items !== undefined) compareSchemas(older.items, newer.items, side, `${where}/*`, found)
  for (const kind of ['anyOf', 'oneOf']) compareBranches(list(older[kind]), list(newer[kind]), side, where, found)
}

function compareTypes(older: Members, newer: Members, side: Side, where: string, found: string[]): void {
  const [from, to] = [typesOf(older), typesOf(newer)]
  const lost = from.filter(
    (type) => !to.includes(type) && !(side === 'request' && type === 'integer' && to.includes('number')),
  )
  const gained = to.filter(
    (type) => !from.includes(type) && !(side === 'answer' && type === 'integer' && from.includes('number')),
  )
  if (
    side === 'request'
      ? to.length > 0 && (from.length === 0 || lost.length > 0)
      : from.length > 0 && (to.length === 0 || gained.length > 0)
  ) {
    found.push(`${where} was ${from.join(' or ') || 'anything'} and is ${to.join(' or ') || 'anything'}`)
  }
}

/** Values of `enum`, `const`, or a union of constants; undefined when the schema does not list them. */
function valuesOf(schema: Members): string[] | undefined {
  if (schema.enum !== undefined) return list(schema.enum).map((value) => JSON.stringify(value))
  if (schema.const !== undefined) return [JSON.stringify(schema.const)]
  const branches = list(schema.anyOf).map(members)
  if (branches.length === 0 || !branches.every((branch) => branch.const !== undefined)) return undefined
  return branches.map((branch) => JSON.stringify(branch.const))
}

function compareEnumerations(older: Members, newer: Members, side: Side, where: string, found: string[]): void {
  const [from, to] = [valuesOf(older), valuesOf(newer)]
  if (side === 'request' && to !== undefined) {
    const lost = from?.filter((value) => !to.includes(value)) ?? ['anything else']
    if (lost.length > 0) found.push(`${where} no longer takes ${lost.join(', ')}`)
  }
  if (side === 'answer' && from !== undefined) {
    const gained = to?.filter((value) => !from.includes(value)) ?? ['anything']
    if (gained.length > 0) found.push(`${where} may now be ${gained.join(', ')}`)
  }
}

const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']

function compareBounds(older: Members, newer: Members, where: string, found: string[]): void {
  const tighter = (name: string, isTighter: (from: number, to: number) => boolean) => {
    const [from, to] = [older[name], newer[name]]
    if (typeof to === 'number' && (typeof from !== 'number' || isTighter(from, to)))
      found.push(`${where}: ${name} is now ${to}`)
  }
  for (const name of lowerBounds) tighter(name, (from, to) => to > from)
  for (const name of upperBounds) tighter(name, (from, to) => to < from)
  for (const name of ['pattern', 'format', 'uniqueItems', 'multipleOf']) {
    if (newer[name] !== undefined && newer[name] !== older[name]) found.push(`${where}: ${name} is now ${newer[name]}`)
  }
}

function compareMembers(older: Members, newer: Members, side: Side, where: string, found: string[]): void {
  const [from, to] = [members(older.properties), members(newer.properties)]
  for (const [name, schema] of Object.entries(from)) {
    if (to[name] === undefined) found.push(`${where}/${name} is gone`)
    else compareSchemas(schema, to[name], side, `${where}/${name}`, found)
  }
  const [wasRequired, isRequired] = [list(older.required), list(newer.required)]
  const changed =
    side === 'request'
      ? isRequired.filter((name) => !wasRequired.includes(name))
      : wasRequired.filter((name) => !isRequired.includes(name))
  for (const name of changed)
    found.push(`${where}/${name} is ${side === 'request' ? 'now required' : 'no longer always there'}`)
  if (side === 'request' && older.additionalProperties !== false && newer.additionalProperties === false) {
    found.push(`${where} no longer takes further members`)
  }
}

/** Branches of a union meet by the constant that tells them apart, else by their place. */
function compareBranches(older: Json[], newer: Json[], side: Side, where: string, found: string[]): void {
  if (older.length === 0 || older.every((branch) => members(branch).const !== undefined)) return
  const tagOf = (branch: Json) => {
    const constants = entriesOf(members(branch).properties).filter(([, schema]) => members(schema).const !== undefined)
    return constants.length > 0
      ? JSON.stringify(constants.map(([name, schema]) => [name, members(schema).const ?? null]))
      : undefined
  }
  const matched = new Set<Json>()
  older.forEach((branch, index) => {
    const tag = tagOf(branch)
    const next = tag === undefined ? newer[index] : newer.find((other) => tagOf(other) === tag)
    if (next !== undefined) matched.add(next)
    if (next === undefined) {
      if (side === 'request') found.push(`${where} no longer takes ${tag ?? `shape ${index}`}`)
    } else compareSchemas(branch, next, side, tag === undefined ? where : `${where} ${tag}`, found)
  })
  if (side === 'answer' && newer.some((branch) => !matched.has(branch)))
    found.push(`${where} may now have another shape`)
}

/** Of an enumeration without a type those of its values. */
function typesOf(schema: Members): string[] {
  if (schema.type === undefined && Array.isArray(schema.enum)) return [...new Set(schema.enum.map(typeOf))]
  return (Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type]).map(String)
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function members(value: Json | undefined | unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}

function entriesOf(value: Json | undefined): [string, Json][] {
  return Object.entries(members(value))
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}
