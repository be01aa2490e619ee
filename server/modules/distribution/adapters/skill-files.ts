import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/json.ts'

/** A file of a skill, with a path inside the skill's folder. */
export interface SkillFile {
  path: string
  text: string
}

/** A skill in the Agent Skills format: a folder with a SKILL.md (https://agentskills.io/specification). */
export interface SkillFolder {
  /** Name of the folder and of the skill: lower-case letters, digits and hyphens, at most 64. */
  name: string
  files: SkillFile[]
}

const nameLengthMax = 64
const descriptionLengthMax = 1024
/** Words that the vendor reserves. */
const reserved = /anthropic|claude/g

/**
 * Returns the folder of a skill of a manifest. In the skill's content, `files` (`{path: text}`) and `skill_md` become
 * files unchanged, and `instructions` becomes the text of SKILL.md; other content goes into SKILL.md as JSON. SKILL.md
 * always begins with this name and description, which are stable across versions.
 */
export function skillFolderOf(skill: JsonObject): SkillFolder {
  const name = folderName(String(skill.skill_id))
  const content = skill.manifest
  const given = isJsonObject(content) && isJsonObject(content.files) ? content.files : {}
  const files: SkillFile[] = []
  for (const [path, text] of Object.entries(given)) {
    if (typeof text === 'string' && path !== 'SKILL.md' && isInside(path)) files.push({ path, text })
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  const front = `---\nname: ${name}\ndescription: ${descriptionOf(skill)}\n---\n\n`
  const text = withoutFront(textOf(content, given['SKILL.md'])) || `# ${String(skill.name)}\n`
  return { name, files: [{ path: 'SKILL.md', text: `${front}${text}` }, ...files] }
}

function folderName(skillId: string): string {
  const plain = skillId
    .toLowerCase()
    .replace(reserved, 'x')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return plain.slice(0, nameLengthMax).replace(/-+$/, '') || 'skill'
}

/** Returns the description as JSON, which YAML reads as a string. Removes tags, which the vendor rejects. */
function descriptionOf(skill: JsonObject): string {
  const text = typeof skill.description === 'string' ? skill.description : String(skill.name)
  return JSON.stringify(text.replaceAll(/[<>]/g, ' ').slice(0, descriptionLengthMax))
}

function textOf(content: JsonValue | undefined, skillMd: JsonValue | undefined): string {
  if (typeof skillMd === 'string') return skillMd
  if (!isJsonObject(content)) return content === undefined ? '' : jsonBlock(content)
  if (typeof content.skill_md === 'string') return content.skill_md
  if (typeof content.instructions === 'string') return content.instructions
  const { files: _, ...rest } = content
  return Object.keys(rest).length === 0 ? '' : jsonBlock(rest)
}

function jsonBlock(value: JsonValue): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`
}

/** Removes the text's own front matter, which would name another skill. */
function withoutFront(text: string): string {
  return text.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n+/, '')
}

/** Returns whether a path stays inside the folder. */
function isInside(path: string): boolean {
  return /^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/.test(path) && !path.split('/').some((part) => /^\.+$/.test(part))
}
