import type { Skill } from '../../components/full-lists.ts'
import type { Filters } from './breakdown/dimensions.ts'
import type { Change } from './marked-changes.ts'
import type { Span } from './ranges.ts'

interface SkillVersions {
  readonly skill_id: string
  readonly versions: readonly Pick<Skill['versions'][number], 'skill_version' | 'registered_at'>[]
}

/** Returns new versions of skills inside a range, the earliest first. The first version of a skill is not a new one. */
export function skillReleasesOf(skills: readonly SkillVersions[], span: Span, { skill_id: only }: Filters): Change[] {
  return skills
    .filter(({ skill_id }) => only === undefined || only === skill_id)
    .flatMap(({ skill_id, versions }) =>
      versions.slice(1).map(({ skill_version, registered_at }) => ({
        at: Date.parse(registered_at),
        name: `${skill_id} ${skill_version}`,
      })),
    )
    .filter(({ at }) => at > span.from && at < span.to)
    .sort((one, other) => one.at - other.at)
}
