import type { SkillState } from '../../contract/literals.ts'

/** Packs, grants and states of skills, as plainly as they can be said. */

export type Action =
  | { do: 'bundle'; archetypes: string[] }
  | { do: 'put'; pack: string; skills: { id: string; version: string }[]; archetypes: string[] }
  | { do: 'apply'; pack: string; archetypes: string[] | undefined; dryRun: boolean }
  | { do: 'grant'; archetype: string; skills: string[] }
  | { do: 'register'; id: string; version: string }
  | { do: 'transition'; id: string; state: SkillState }

interface Skill {
  state: SkillState
  versions: Map<string, SkillState>
}

interface Reach {
  archetypes: readonly string[]
  skills: readonly string[]
}

const steps: Record<SkillState, readonly SkillState[]> = {
  draft: ['published'],
  published: ['deprecated'],
  deprecated: ['published', 'retired'],
  retired: [],
}

export class EntitlementModel {
  archetypes = new Set<string>()
  skills = new Map<string, Skill>()
  packs = new Map<string, { skills: { id: string; version: string }[]; archetypes: string[] }>()
  applied = new Map<string, Reach>()
  /** `archetype skill` → the pack that gave it, or null. */
  grants = new Map<string, string | null>()
  /** How many events there must be. */
  events = 0

  /** Does it, and answers the status of the call. */
  act(action: Action): number {
    switch (action.do) {
      case 'bundle':
        return this.bundle(action.archetypes)
      case 'put':
        if (action.archetypes.some((id) => !this.archetypes.has(id))) return 400
        this.packs.set(action.pack, action)
        return 200
      case 'apply':
        return this.apply(action.pack, action.archetypes, action.dryRun)
      case 'grant':
        return this.grant(action.archetype, action.skills)
      case 'register':
        return this.register(action.id, action.version)
      case 'transition':
        return this.transition(action.id, action.state)
    }
  }

  private bundle(archetypes: readonly string[]): number {
    this.archetypes = new Set(archetypes)
    const lost = [...this.grants.keys()].filter((key) => !this.archetypes.has(key.split(' ')[0]!))
    for (const key of lost) this.grants.delete(key)
    if (lost.length > 0) this.events += 1
    return 200
  }

  private apply(id: string, given: string[] | undefined, dryRun: boolean): number {
    const pack = this.packs.get(id)
    if (!pack) return 404
    const archetypes = given ?? pack.archetypes
    if (archetypes.some((archetype) => !this.archetypes.has(archetype))) return 400
    if (pack.skills.some((skill) => this.skills.get(skill.id)?.state === 'retired')) return 422
    if (dryRun) return 200

    const before = this.snapshot()
    for (const { id: skillId, version } of pack.skills) {
      const skill = this.skills.get(skillId) ?? { state: 'draft', versions: new Map() }
      this.skills.set(skillId, skill)
      if (skill.state === 'deprecated') {
        for (const [each, state] of skill.versions) if (state === 'deprecated') skill.versions.set(each, 'published')
      }
      skill.versions.set(version, 'published')
      skill.state = 'published'
    }
    const skills = pack.skills.map((skill) => skill.id)
    const wanted = new Set(archetypes.flatMap((archetype) => skills.map((skill) => `${archetype} ${skill}`)))
    for (const [key, owner] of [...this.grants]) {
      if (owner !== id || wanted.has(key)) continue
      const heir = this.heirOf(key, id)
      if (heir === undefined) this.grants.delete(key)
      else this.grants.set(key, heir)
    }
    for (const key of wanted) if (!this.grants.has(key)) this.grants.set(key, id)
    this.applied.set(id, { archetypes: archetypes.toSorted(), skills: skills.toSorted() })
    if (this.snapshot() !== before) this.events += 1
    return 200
  }

  /** The first other pack that gave it when it was applied last. */
  private heirOf(key: string, except: string): string | undefined {
    const [archetype, skill] = key.split(' ') as [string, string]
    const others = [...this.applied].filter(([id]) => id !== except).sort(([a], [b]) => (a < b ? -1 : 1))
    return others.find(([, reach]) => reach.archetypes.includes(archetype) && reach.skills.includes(skill))?.[0]
  }

  private grant(archetype: string, skills: readonly string[]): number {
    if (!this.archetypes.has(archetype)) return 404
    const keys = skills.map((skill) => `${archetype} ${skill}`)
    const fresh = skills.filter((skill) => !this.grants.has(`${archetype} ${skill}`))
    const isGood = (skill: string) => this.skills.has(skill) && this.skills.get(skill)!.state !== 'retired'
    if (!fresh.every(isGood)) return 422
    const lost = [...this.grants.keys()].filter((key) => key.startsWith(`${archetype} `) && !keys.includes(key))
    for (const key of lost) this.grants.delete(key)
    for (const skill of fresh) this.grants.set(`${archetype} ${skill}`, null)
    if (fresh.length + lost.length > 0) this.events += 1
    return 200
  }

  private register(id: string, version: string): number {
    const skill = this.skills.get(id) ?? { state: 'draft', versions: new Map() }
    if (skill.versions.has(version)) return 409
    skill.versions.set(version, 'draft')
    this.skills.set(id, skill)
    return 201
  }

  private transition(id: string, state: SkillState): number {
    const skill = this.skills.get(id)
    if (!skill) return 404
    if (skill.state !== state && !steps[skill.state].includes(state)) return 400
    const follows = (version: SkillState) =>
      (state === 'published' && (version === 'draft' || version === 'deprecated')) ||
      (skill.state !== state && state === 'deprecated' && version === 'published') ||
      (skill.state !== state && state === 'retired')
    const moved = [...skill.versions].filter(([, version]) => follows(version))
    if (skill.state !== state || moved.length > 0) this.events += 1
    for (const [version] of moved) skill.versions.set(version, state)
    skill.state = state
    return 200
  }

  private snapshot(): string {
    return JSON.stringify([this.skillStates(), [...this.grants].sort(), [...this.applied].sort()])
  }

  /** By id: the state, and that of each version. */
  skillStates(): Record<string, { state: SkillState; versions: Record<string, SkillState> }> {
    return Object.fromEntries(
      [...this.skills]
        .sort()
        .map(([id, { state, versions }]) => [id, { state, versions: Object.fromEntries([...versions].sort()) }]),
    )
  }
}
