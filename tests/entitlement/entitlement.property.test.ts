import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SkillState, skillStates } from '../../contract/literals.ts'
import { type AuthHub, startAuthHub } from '../auth/auth-hub.ts'
import { type Action, EntitlementModel } from './entitlement-model.ts'
import { base, packSkill, packsOf } from './packs.ts'

let hub: AuthHub
let superuser: pg.Client
let packs: ReturnType<typeof packsOf>
beforeAll(async () => {
  hub = await startAuthHub()
  superuser = await hub.hub.superuserClient()
  packs = packsOf(hub, 'acme')
})
afterAll(() => hub.close())

const skillId = fc.constantFrom('s1', 's2', 's3')
const archetype = fc.constantFrom('a1', 'a2', 'a3')
const archetypes = fc.uniqueArray(archetype, { maxLength: 3 })
const pack = fc.constantFrom('p1', 'p2', 'p3')
const version = fc.constantFrom('1.0.0', '1.1.0')
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('bundle' as const), archetypes }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      pack,
      skills: fc.uniqueArray(fc.record({ id: skillId, version }), { maxLength: 3, selector: (skill) => skill.id }),
      archetypes,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('apply' as const),
      pack,
      archetypes: fc.option(archetypes, { nil: undefined, freq: 3 }),
      dryRun: fc.nat(7).map((n) => n === 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      archetype,
      skills: fc.uniqueArray(skillId, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('register' as const), id: skillId, version }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('transition' as const),
      id: skillId,
      state: fc.constantFrom<SkillState>(...skillStates),
    }),
  },
)

async function send(action: Action): Promise<number> {
  switch (action.do) {
    case 'bundle':
      return (await packs.bundle(...action.archetypes)).status
    case 'put': {
      const skills = action.skills.map((skill) => packSkill(skill.id, skill.version))
      return (await packs.put(action.pack, skills, action.archetypes)).status
    }
    case 'apply': {
      const { archetypes: archetype_ids, dryRun: dry_run } = action
      return (await packs.apply(action.pack, { ...(archetype_ids && { archetype_ids }), dry_run })).status
    }
    case 'grant':
      return (await packs.grant(action.archetype, action.skills)).status
    case 'register':
      return (await packs.register(action.id, action.version)).status
    case 'transition':
      return (await packs.transition(action.id, action.state)).status
  }
}

async function countEvents(): Promise<number> {
  const { rows } = await superuser.query(
    `select count(*)::int as count from hub.records
     where tenant_id = 'acme' and event_kind = 'skill.entitlement_changed'`,
  )
  return rows[0].count
}

/** What the Hub says of skills, as the model has it. */
async function skillsThere(): Promise<Record<string, unknown>> {
  const { items } = (await packs.call('GET', `${base}/skills?limit=1000`)).body
  return Object.fromEntries(
    items.map((skill: { skill_id: string; state: string; versions: { skill_version: string; state: string }[] }) => [
      skill.skill_id,
      {
        state: skill.state,
        versions: Object.fromEntries(skill.versions.map((each) => [each.skill_version, each.state])),
      },
    ]),
  )
}

test('whatever is done to packs, grants and skills, the Hub has what the model has, and as many events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAction, { minLength: 8, maxLength: 24 }), async (actions) => {
      for (const table of ['coworks', 'skill_grants', 'skill_versions', 'skills', 'archetypes']) {
        await superuser.query(`delete from hub.${table} where tenant_id = 'acme'`)
      }
      const model = new EntitlementModel()
      const eventsBefore = await countEvents()
      for (const action of [{ do: 'bundle', archetypes: ['a1', 'a2', 'a3'] } as const, ...actions] as Action[]) {
        expect(await send(action), JSON.stringify(action)).toBe(model.act(action))
        const grants = [...model.grants].map(([key, owner]) => (owner === null ? key : `${key} ${owner}`))
        expect(await packs.grants()).toEqual(grants.sort())
        expect(await skillsThere()).toEqual(model.skillStates())
        expect((await countEvents()) - eventsBefore).toBe(model.events)
      }
    }),
    { numRuns: 15 },
  )
})
