import packaged from '@sparticuz/chromium'

// Into the folder for temporary files that the environment names.
await packaged.executablePath()
