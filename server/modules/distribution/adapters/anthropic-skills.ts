import { hash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/json.ts'
import { addressStep } from '../../../outbound/connection-test.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { Delivery, PlatformAdapter } from '../distribution-types.ts'
import { failStep, PublishFailure } from '../publish-failure.ts'
import { AnthropicClient } from './anthropic-client.ts'
import { type SkillFolder, skillFolderOf } from './skill-files.ts'

/** The state of an uploaded skill: its remote id, and the content of the last upload. */
interface Uploaded {
  id: string
  content: string
}
type State = Record<string, Uploaded>

interface Wanted {
  skillId: string
  title: string
  folder: SkillFolder
  content: string
}

/**
 * Synchronises the skills of an Anthropic workspace with the manifest: uploads new and changed ones, and deletes those
 * that the Hub uploaded and no longer publishes. Leaves skills of others alone. Each publish begins with the list of
 * skills, so that a skill deleted there is uploaded again, and an upload of an interrupted publish is found by its
 * title.
 */
export function createAnthropicSkills(outbound: Pick<Outbound, 'fetch' | 'resolvedProblemOf'>): PlatformAdapter {
  const clientOf = ({ publishUrl = '', credentials, signal }: Delivery) =>
    new AnthropicClient(outbound, { baseUrl: publishUrl, apiKey: credentials.anthropic_api_key ?? '', signal })

  return {
    timeoutMs: 120_000,
    credentials: ['anthropic_api_key'],

    async publish(delivery) {
      const client = clientOf(delivery)
      const wanted = wantedSkills(delivery)
      const { state, ids } = await known(client, stateIn(delivery.state), wanted, delivery)
      const remember = (next: State) => delivery.remember(asJson(next))
      for (const skill of wanted) {
        const before = state[skill.skillId]
        if (before && before.content === skill.content) continue
        if (before) await client.addVersion(before.id, skill.folder)
        const id = before?.id ?? (await client.create(skill.title, skill.folder))
        state[skill.skillId] = { id, content: skill.content }
        await remember(state)
      }
      const names = new Set(wanted.map(({ skillId }) => skillId))
      for (const [skillId, { id }] of Object.entries(state)) {
        if (names.has(skillId)) continue
        if (ids.has(id)) await client.remove(id)
        delete state[skillId]
        await remember(state)
      }
      return asJson(state)
    },

    test: (delivery) => [
      addressStep(outbound, delivery.publishUrl ?? '', 'The address of the API'),
      [
        'credentials',
        async () => {
          const skills = await clientOf(delivery).list().catch(failStep)
          return `The key is accepted; the workspace has ${skills.length} skills of its own.`
        },
      ],
    ],
  }
}

/** Returns the uploaded skills that still exist, and those an interrupted publish left, found by their titles. */
async function known(
  client: AnthropicClient,
  remembered: State,
  wanted: readonly Wanted[],
  { tenant, connectorId }: Delivery,
): Promise<{ state: State; ids: ReadonlySet<string> }> {
  const remote = await client.list()
  const ids = new Set(remote.map(({ id }) => id))
  const state = Object.fromEntries(Object.entries(remembered).filter(([, { id }]) => ids.has(id)))
  const idOfTitle = new Map(remote.map(({ id, title }) => [title, id]))
  const wantedTitles = new Map(wanted.map(({ skillId, title }) => [title, skillId]))
  const ofUs = ` [${tenant}/${connectorId.slice(-6)}/`
  for (const [title, id] of idOfTitle) {
    if (!title.includes(ofUs)) continue
    const skillId = wantedTitles.get(title) ?? /\/([^/\]]+)\]$/.exec(title)?.[1]
    // Empty, since its content is unknown.
    if (skillId !== undefined) state[skillId] ??= { id, content: '' }
  }
  return { state, ids }
}

function wantedSkills({ manifest, tenant, connectorId }: Delivery): Wanted[] {
  const skills = Array.isArray(manifest.skills) ? (manifest.skills as readonly JsonValue[]).filter(isGranted) : []
  const skillIdOf = new Map<string, string>()
  return skills.map((skill: JsonObject) => {
    const skillId = String(skill.skill_id)
    const folder = skillFolderOf(skill)
    const other = skillIdOf.get(folder.name)
    if (other !== undefined) {
      throw new PublishFailure(
        `would receive two skills with the name ${folder.name}: ${other} and ${skillId}. Rename one`,
      )
    }
    skillIdOf.set(folder.name, skillId)
    const content = hash('sha256', JSON.stringify(folder))
    return { skillId, title: `${String(skill.name)}${titleEnd(tenant, connectorId, skillId)}`, folder, content }
  })
}

/**
 * Returns whether any archetype may use the skill. The API knows no archetypes, so a skill without any is not uploaded.
 */
function isGranted(skill: JsonValue): skill is JsonObject {
  return isJsonObject(skill) && Array.isArray(skill.archetype_ids) && skill.archetype_ids.length > 0
}

/** Returns the end of a title. It makes titles unique within a workspace and identifies the owner of a skill. */
function titleEnd(tenant: string, connectorId: string, skillId: string): string {
  return ` [${tenant}/${connectorId.slice(-6)}/${skillId}]`
}

function stateIn(value: JsonValue): State {
  const state: State = {}
  for (const [skillId, uploaded] of Object.entries(isJsonObject(value) ? value : {})) {
    if (!isJsonObject(uploaded)) continue
    const { id, content } = uploaded
    if (typeof id === 'string' && typeof content === 'string') state[skillId] = { id, content }
  }
  return state
}

function asJson(state: State): JsonValue {
  return Object.fromEntries(Object.entries(state).map(([skillId, { id, content }]) => [skillId, { id, content }]))
}
