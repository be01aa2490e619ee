// Bodies that cost as much as their bounds allow, by shape. `shapesOf` serves any operation; most of its bodies are
// rejected after parsing.
import { type BodyBounds, bodyBounds } from '../../contract/limits.ts'
import { archetypeIds, sampleEvent } from './sample-events.ts'

const list = (count: number, item: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => item(at)).join(',')
/** Returns a name for each place, unique to the body, because engines cache names. */
let bodies = 0
const nameOf = (at: number) => `${bodies.toString(36)}_${((at * 7919) % 1_000_003).toString(36)}`

/** Returns objects with `members` members in total, each with at most `perObject`. */
function objectsOf(members: number, perObject: number): string {
  const count = Math.ceil(members / perObject)
  const each = Math.floor(members / count) - 1
  return list(count, (object) => `{${list(each, (at) => `"${nameOf(object * each + at)}":0`)}}`)
}

/** Returns texts within the bounds. `{"x": …}` is not a body of an operation. */
export function shapesOf({ bytes, values, objectMembers, nameBytes, textBytes }: BodyBounds): Record<string, string> {
  bodies++
  const left = values - 3
  const text = Math.min(bytes, textBytes ?? bytes)
  // A value takes about ten bytes, so small bodies hold fewer.
  const fitting = Math.min(left, Math.floor(bytes / 24))
  return {
    'members of large objects': `{"x":[${objectsOf(fitting, objectMembers)}]}`,
    'objects of one member': `{"x":[${list(Math.floor(fitting / 2), (at) => `{"${nameOf(at)}":0}`)}]}`,
    'unknown members': `{${list(Math.min(fitting, objectMembers), (at) => `"${nameOf(at)}":0`)}}`,
    'empty arrays': `{"x":[${list(Math.min(left, Math.floor(bytes / 4)), () => '[]')}]}`,
    'texts of escapes': `{"x":[${list(Math.ceil(bytes / text), () => `"${'\\n'.repeat((text - 20) / 2)}"`)}]}`,
    'long names': `{${list(Math.min(objectMembers, Math.floor(bytes / (nameBytes + 4))), (at) => `"${nameOf(at).padEnd(nameBytes, 'x')}":0`)}}`,
    'space, and no JSON': `${' '.repeat(bytes - 2)}[`,
    'repeated members': `{"x":[${list(Math.floor(fitting / 3), () => '{"a":0,"a":0}')}]}`,
  }
}

/** Returns bodies that are stored, as large as the bounds allow. */
export function batchShapes(): Record<string, string> {
  bodies++
  const nowMs = Date.now() - 60_000
  const { bytes, values, eventValues, nameBytes, textBytes } = bodyBounds.batch
  const event = (at: number, metadata: object) => JSON.stringify({ ...sampleEvent(at, nowMs), metadata })
  const members = (count: number, at: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, member) => [nameOf(at * count + member), 0]))
  const eventBytes = 500
  return {
    '1,000 events of 198 values': `{"events":[${list(1000, (at) => event(at, members(182, at)))}]}`,
    '100 events of 1,600 values': `{"events":[${list(100, (at) => event(at, members(820, at)))}]}`,
    '1,000 events of 8 KB': `{"events":[${list(1000, (at) => event(at, { text: '\\'.repeat(4000) }))}]}`,
    '1,000 refused events': `{"events":[${list(1000, (at) => event(at, { [nameOf(at)]: [] }))}]}`,
    'events with unknown members': `{"events":[${list(Math.floor(values / eventValues), (at) =>
      JSON.stringify(members(eventValues - 2, at)),
    )}]}`,
    'events with long names': `{"events":[${list(20, () => `{${list(Math.floor(bytes / nameBytes / 20) - 1, (at) => `"${nameOf(at).padEnd(nameBytes, 'x')}":0`)}}`)}]}`,
    'events with texts of 1 MiB': `{"events":[${list(Math.floor(bytes / (textBytes + eventBytes)), (at) => event(at, { text: 'é'.repeat(textBytes / 2) }))}]}`,
  }
}

export function recordShapes(): Record<string, string> {
  bodies++
  const record = (content: string) => `{"record_type":"artifact","title":"heavy","content":${content}}`
  const left = bodyBounds.record.values - 10
  return {
    'content of 50,000 members': record(`[${objectsOf(left - 6, bodyBounds.record.objectMembers)}]`),
    'content of 25,000 objects': record(`[${list(Math.floor(left / 2), (at) => `{"${nameOf(at)}":0}`)}]`),
    'content of 50,000 zeros': record(`[${list(left, () => '0')}]`),
    'text of 1 MiB': record(`"${'é'.repeat(bodyBounds.record.bytes / 2 - 100)}"`),
  }
}

export function eventShapes(): Record<string, string> {
  bodies++
  const metadata = Object.fromEntries(Array.from({ length: 700 }, (_, at) => [nameOf(at), 0]))
  return { 'metadata of 700 members': JSON.stringify({ ...sampleEvent(0, Date.now() - 60_000), metadata }) }
}

/** Returns messages, each with the largest event that its bytes allow. */
export function inboundShapes(): Record<string, string> {
  bodies++
  const metadata = Object.fromEntries(Array.from({ length: 700 }, (_, at) => [nameOf(at), 0]))
  const { llm_platform: _, ...data } = sampleEvent(0, Date.now() - 60_000)
  const message = { kind: 'skill.invoked', occurred_at: new Date().toISOString(), data: { ...data, metadata } }
  return { 'metadata of 700 members': JSON.stringify({ id: `heavy-${bodies}`, ...message }) }
}

export function listShapes(): Record<string, Record<string, string>> {
  return {
    replaceArchetypes: {
      '10,000 archetypes': JSON.stringify({
        archetypes: [...archetypeIds, ...Array.from({ length: 9990 }, (_, at) => `heavy-${at}`)].map(
          (archetype_id) => ({
            archetype_id,
            name: `The archetype ${archetype_id}`,
          }),
        ),
      }),
    },
    replaceArchetypeGrants: {
      '10,000 unknown skills': JSON.stringify({ skill_ids: Array.from({ length: 10_000 }, (_, at) => `none-${at}`) }),
    },
    checkEntitlements: {
      '1,000 checks': JSON.stringify({
        checks: Array.from({ length: 1000 }, (_, at) => ({
          user_id: `user:u${at}@example.com`,
          skill_id: `skill-${at % 12}`,
        })),
      }),
    },
  }
}

const scimGroupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const scimPatchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** @param id the id of a group */
export function scimShapes(
  id: string,
): { method: 'POST' | 'PUT' | 'PATCH'; path: string; shape: string; text: string }[] {
  const group = `/Groups/${id}`
  const members = Array.from({ length: 50_000 }, (_, at) => ({ value: `usr_none${at}`, display: 'x' }))
  const named = { schemas: [scimGroupSchema], displayName: 'heavy' }
  const operations = (Operations: object[]) => JSON.stringify({ schemas: [scimPatchSchema], Operations })
  return [
    { method: 'POST', path: '/Groups', shape: '50,000 unknown members', text: JSON.stringify({ ...named, members }) },
    { method: 'PUT', path: group, shape: '50,000 unknown members', text: JSON.stringify({ ...named, members }) },
    {
      method: 'PATCH',
      path: group,
      shape: '50,000 unknown members',
      text: operations([{ op: 'add', path: 'members', value: members }]),
    },
    {
      method: 'PATCH',
      path: group,
      shape: '1,000 operations of 40 members',
      text: operations(
        Array.from({ length: 1000 }, (_, at) => ({
          op: 'add',
          path: 'members',
          value: members.slice(at * 40, at * 40 + 40),
        })),
      ),
    },
    ...Object.entries(shapesOf(bodyBounds.scim)).map(([shape, text]) => ({
      method: 'POST' as const,
      path: '/Users',
      shape,
      text,
    })),
  ]
}
