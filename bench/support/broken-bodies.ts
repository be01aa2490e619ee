// Makes bodies that violate the schema of an operation in as many places as its bounds allow, each at another kind of
// place.
import type { BodyBounds } from '../../contract/limits.ts'
import { scanJson } from '../../server/http/body/json-scan.ts'
import { runToEnd } from '../../server/http/event-loop-yielder.ts'

/** A JSON schema of the OpenAPI document. */
export interface BodySchema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  items?: BodySchema
  properties?: Record<string, BodySchema>
  additionalProperties?: boolean | BodySchema
  patternProperties?: Record<string, BodySchema>
  oneOf?: BodySchema[]
  anyOf?: BodySchema[]
}

interface Room {
  values: number
  bytes: number
}

/** One kind of invalid value. `make` fills the given room. */
interface Fault {
  name: string
  make(room: Room): string
}

const bytesAround = 200
const valuesAround = 12
const memberBytes = 16
const list = (count: number, item: (at: number) => string) => Array.from({ length: count }, (_, at) => item(at)).join()

/** @param named the schemas of the components */
export function brokenBodies(
  schema: BodySchema,
  named: Record<string, BodySchema>,
  bounds: BodyBounds,
): Record<string, string> {
  const textBytesMax = bounds.textBytes ?? bounds.bytes
  const membersIn = ({ values, bytes }: Room) =>
    Math.max(1, Math.min(values - 1, bounds.objectMembers, Math.floor(bytes / memberBytes)))

  function faultsOf(given: BodySchema): Fault[] {
    const found = given.$ref === undefined ? given : named[given.$ref.slice(given.$ref.lastIndexOf('/') + 1)]
    const { type, items, properties, oneOf, anyOf } = found!
    const branches = [...(oneOf ?? []), ...(anyOf ?? [])].flatMap(faultsOf)
    if (items !== undefined) return [...branches, ...faultsOfArray(items)]
    if (properties !== undefined || type === 'object') return [...branches, ...faultsOfObject(found!)]
    if (type !== 'string' && !(Array.isArray(type) && type.includes('string'))) return branches
    const text = (name: string, character: string) => ({
      name,
      make: ({ bytes }: Room) =>
        `"${character.repeat(Math.max(0, Math.min(bytes - 2, textBytesMax) / Buffer.byteLength(character)))}"`,
    })
    return [...branches, text('long text', 'a'), text('long text of two bytes each', 'é')]
  }

  function faultsOfArray(items: BodySchema): Fault[] {
    const many = ({ name, make }: Fault, valuesOfEach: number): Fault => ({
      name: `[${name}]`,
      make({ values, bytes }) {
        const share = { values: valuesOfEach, bytes: Math.floor((bytes * valuesOfEach) / values) - 1 }
        const item = make(share)
        const bytesOfItem = Buffer.byteLength(item) + 1
        const { values: valuesOfItem } = runToEnd(scanJson(Buffer.from(item), { depth: 100 }))
        return `[${list(Math.floor(Math.min(values / valuesOfItem, bytes / bytesOfItem)), () => item)}]`
      },
    })
    const scalars = { name: '[numbers]', make: ({ values }: Room) => `[${list(values - 1, () => '0')}]` }
    const faults = faultsOf(items)
    return [
      scalars,
      // A batch above the maximum number of events is rejected at once.
      ...(bounds.eventValues === undefined ? faults.map((fault) => many(fault, 2)) : []),
      ...faults.map((fault) => ({ ...many(fault, 1000), name: `[large: ${fault.name}]` })),
    ]
  }

  function faultsOfObject({ properties = {}, additionalProperties, patternProperties }: BodySchema): Fault[] {
    const constants = Object.entries(properties).filter(([, property]) => property.const !== undefined)
    const tags = constants.map(([name, property]) => `${JSON.stringify(name)}:${JSON.stringify(property.const)},`)
    const before = `{${tags.join('')}`
    const isMap = typeof additionalProperties === 'object' || patternProperties !== undefined
    return [
      {
        name: 'unknown members',
        make: (room) => `${before}${list(membersIn(room), (at) => `"m${at.toString(36)}":0`)}}`,
      },
      ...(isMap
        ? [
            {
              name: 'wrong values of a map',
              make: (room: Room) => `{${list(membersIn(room), (at) => `"m${at.toString(36)}":[]`)}}`,
            },
          ]
        : []),
      {
        name: 'wrong members',
        make: () =>
          `{${Object.keys(properties)
            .map((name) => `${JSON.stringify(name)}:[]`)
            .join()}}`,
      },
      ...Object.entries(properties)
        .filter(([, property]) => property.const === undefined)
        .flatMap(([name, property]) =>
          faultsOf(property).map((fault) => ({
            name: `${name}: ${fault.name}`,
            make: (room: Room) => `${before}${JSON.stringify(name)}:${fault.make(room)}}`,
          })),
        ),
    ]
  }

  const room = { values: bounds.values - valuesAround, bytes: bounds.bytes - bytesAround }
  return Object.fromEntries(faultsOf(schema).map(({ name, make }) => [name, make(room)]))
}
