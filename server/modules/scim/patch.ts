import { isDeepStrictEqual } from 'node:util'
import { canonicalize } from '../../../provenance/canonical.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { attributeNamed } from './attribute-paths.ts'
import { invalid, isPrimary, normalSingle, normalValue } from './attribute-values.ts'
import type { PatchStep } from './patch-operations.ts'
import type { PatchPath } from './patch-path.ts'
import { PatchWork } from './patch-work.ts'
import type { ResourceAttributes } from './resource-body.ts'
import type { AttributeDefinition } from './schema-types.ts'
import { scimProblem } from './scim-problems.ts'
import { equalitiesOf, matchesValue } from './value-matching.ts'

/**
 * Applies steps in order to a copy (RFC 7644, sections 3.5.2.1 to 3.5.2.3). Does not handle members of groups: see
 * member-change.ts.
 *
 * @throws DomainError 400 with scimType `noTarget`, `mutability`, `invalidValue` or `tooMany`
 */
export function applyPatch(current: ResourceAttributes, steps: readonly PatchStep[]): ResourceAttributes {
  const attributes = structuredClone(current)
  const work = new PatchWork()
  for (const step of steps) applyStep(attributes, step, work)
  return attributes
}

function applyStep(attributes: ResourceAttributes, step: PatchStep, work: PatchWork): void {
  const { extension, attribute, sub, filter } = step.path
  const holder = extension === undefined ? attributes : { ...(attributes[extension] as JsonObject | undefined) }
  const before = holder[attribute.name]
  const after = attribute.multiValued ? changedList(step, listOf(before), work) : changedSingle(step, before)
  if (after === undefined && attribute.required && sub === undefined && filter === undefined) {
    throw scimProblem('mutability', `The attribute ${attribute.name} is required and cannot be removed.`)
  }
  setOrDelete(holder, attribute.name, after)
  if (extension !== undefined) setOrDelete(attributes, extension, Object.keys(holder).length > 0 ? holder : undefined)
}

function changedSingle({ op, path: { attribute, sub }, value = null }: PatchStep, before: JsonValue | undefined) {
  if (op === 'add' && value === null) return before
  if (sub) return withPart(before, sub, op === 'remove' ? undefined : normalSingle(sub, value))
  if (op === 'remove') return undefined
  const normal = normalValue(attribute, value)
  // Unnamed sub-attributes stay (section 3.5.2.3).
  return isJsonObject(normal) && isJsonObject(before) ? { ...before, ...normal } : normal
}

function changedList(step: PatchStep, before: readonly JsonValue[], work: PatchWork): JsonValue[] | undefined {
  const { op, path, value } = step
  work.spend(before.length)
  if (path.filter) work.spendFilter(path.filter, before)
  else if (op !== 'remove') work.spend((before.length + listOf(value).length) * stepsOfValue)
  const after = path.filter
    ? changedChosen(step, before, chosenBy(path, before))
    : path.sub
      ? changedChosen(step, before, new Set(before))
      : op === 'remove'
        ? withoutValues(path.attribute, before, value, work)
        : op === 'replace'
          ? onePrimary(path.attribute, [], newValues(path.attribute, value))
          : onePrimary(path.attribute, before, newValues(path.attribute, value))
  return after.length === 0 ? undefined : after
}

/** Cost in steps of normalising one value and making its comparison text. */
const stepsOfValue = 4

/** Changes the selected values, or a part of each. */
function changedChosen(step: PatchStep, before: readonly JsonValue[], chosen: ReadonlySet<JsonValue>): JsonValue[] {
  const { op, path, value = null } = step
  const { attribute, sub } = path
  if (chosen.size === 0) {
    if (op === 'add' || (op === 'replace' && !path.filter)) return added(step, before)
    if (op === 'remove' && !path.filter) return [...before]
    throw scimProblem('noTarget', `No value of ${attribute.name} is one that the path chooses.`)
  }
  if (op === 'remove' && !sub) return before.filter((each) => !chosen.has(each))
  const normal = op === 'remove' ? undefined : normalSingle(sub ?? attribute, value)
  const change = (each: JsonValue): JsonValue | undefined => {
    if (sub) return withPart(each, sub, normal)
    return op === 'add' && isJsonObject(each) && isJsonObject(normal) ? { ...each, ...normal } : normal
  }
  const changed = before.map((each) => (chosen.has(each) ? change(each) : each)).filter((each) => each !== undefined)
  const primaryIsNew = sub ? sub.name === 'primary' && normal === true : isPrimary(normal ?? null)
  if (!primaryIsNew) return changed
  if (chosen.size > 1) throw invalid(attribute, 'must have at most one primary value')
  return before.map((each, at) =>
    chosen.has(each) ? changed[at] : withoutPrimary(changed[at] as JsonValue),
  ) as JsonValue[]
}

/** Creates the value that an add selects but that does not exist: Entra adds `emails[type eq "work"].value`. */
function added({ path: { attribute, filter, sub }, value = null }: PatchStep, before: readonly JsonValue[]) {
  const equalities = filter ? equalitiesOf(filter) : []
  if (!equalities) throw scimProblem('noTarget', `No value of ${attribute.name} is one that the path chooses.`)
  const normal = normalSingle(sub ?? attribute, value)
  if (normal === undefined) return [...before]
  const parts: Record<string, JsonValue> = {}
  for (const equality of equalities) {
    const part = attributeNamed(attribute.subAttributes, equality.path[0] ?? '')
    if (part && equality.value !== null) parts[part.name] = equality.value
  }
  const made = sub ? { ...parts, [sub.name]: normal } : { ...parts, ...(normal as JsonObject) }
  return onePrimary(attribute, before, [made])
}

function chosenBy({ attribute, filter }: PatchPath, values: readonly JsonValue[]): Set<JsonValue> {
  return new Set(values.filter((each) => filter && matchesValue(attribute, filter, each)))
}

function newValues(attribute: AttributeDefinition, value: JsonValue | undefined): readonly JsonValue[] {
  return listOf(value === undefined ? undefined : normalValue(attribute, value))
}

/** Adds new values. A new primary value replaces the previous one (section 3.5.2). */
function onePrimary(
  attribute: AttributeDefinition,
  before: readonly JsonValue[],
  fresh: readonly JsonValue[],
): JsonValue[] {
  // Comparing thousands of values in pairs would take too long.
  const known = new Set(before.map(canonicalize))
  const unknown = fresh.filter((each) => !known.has(canonicalize(each)))
  const kept = unknown.some(isPrimary) ? before.map(withoutPrimary) : before
  const values = [...kept, ...unknown]
  // Also checks their number.
  normalValue(attribute, values)
  return values
}

/** Removes the values that a remove lists, compared by their `value` if they have one; removes all if it lists none. */
function withoutValues(
  attribute: AttributeDefinition,
  before: readonly JsonValue[],
  value: JsonValue | undefined,
  work: PatchWork,
): JsonValue[] {
  if (value === undefined || value === null) return []
  const listed = newValues(attribute, value)
  work.spend(listed.length * before.length)
  return before.filter((each) => !listed.some((other) => isSame(each, other)))
}

function isSame(value: JsonValue, listed: JsonValue): boolean {
  if (isJsonObject(value) && isJsonObject(listed)) {
    return Object.entries(listed).every(([name, part]) => isDeepStrictEqual(value[name], part))
  }
  return isDeepStrictEqual(value, listed)
}

function withoutPrimary(value: JsonValue): JsonValue {
  return isPrimary(value) ? { ...(value as JsonObject), primary: false } : value
}

function withPart(
  value: JsonValue | undefined,
  sub: AttributeDefinition,
  part: JsonValue | undefined,
): JsonObject | undefined {
  const parts: Record<string, JsonValue> = { ...(isJsonObject(value) ? value : {}) }
  setOrDelete(parts, sub.name, part)
  return Object.keys(parts).length === 0 ? undefined : parts
}

function setOrDelete(holder: Record<string, JsonValue>, name: string, value: JsonValue | undefined): void {
  if (value === undefined) delete holder[name]
  else holder[name] = value
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined) return []
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
}
