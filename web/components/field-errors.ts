import type { PointedError } from '../../contract/domain-error.ts'
import { HubProblem } from '../api/problem.ts'
import { capitalised } from '../ui/capitalised.ts'
import { isObject } from '../ui/is-object.ts'

interface FieldErrors {
  /** Texts by the names of fields, as `setErrors` of @mantine/form takes them. */
  atFields: Record<string, string>
  /** Errors that no field shows. */
  elsewhere: PointedError[]
}

/**
 * Assigns the errors of a problem document to the fields of a form by their JSON pointers. `/credentials/token` belongs
 * to the field `credentials.token`; `/domains/2` belongs to `domains`, whose field edits a list of texts.
 *
 * @param values the values of the form that were sent
 * @param fieldOf returns the field of a member of the body if the form has another name for it
 */
export function fieldErrors(
  error: unknown,
  values: unknown,
  fieldOf: (member: string) => string | undefined = () => undefined,
): FieldErrors {
  const atFields: Record<string, string> = {}
  const elsewhere: PointedError[] = []
  for (const each of error instanceof HubProblem ? error.errors : []) {
    const path = each.pointer
      .slice(1)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    const field = fieldOf(path.join('.')) ?? fieldAt(values, path)
    if (field === undefined) {
      elsewhere.push(each)
      continue
    }
    // The Hub's text continues the pointer; below a field it stands alone.
    const text = capitalised(each.detail)
    atFields[field] = field in atFields ? `${atFields[field]} ${text}` : text
  }
  return { atFields, elsewhere }
}

/** Returns the field at a path, or the one that edits the list or the text at a part of it. */
function fieldAt(values: unknown, path: readonly string[]): string | undefined {
  const names: string[] = []
  let value = values
  for (const part of path) {
    if (!isTree(value)) break
    if (!(part in value)) return undefined
    value = (value as Record<string, unknown>)[part]
    names.push(part)
  }
  return isTree(value) ? undefined : names.join('.')
}

/** Returns true if parts of a value have fields of their own. One field edits a list of texts. */
function isTree(value: unknown): value is object {
  return Array.isArray(value) ? value.some(isObject) : isObject(value)
}
