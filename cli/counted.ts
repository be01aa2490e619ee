/** Returns a number with its noun, as commands print it: `1 record`, `2 records`, `1,024 entries`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`
}
