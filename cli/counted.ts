/** `1 record`, `2 records`, `1,024 entries`: a number with its word, as every command writes it for people. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`
}
