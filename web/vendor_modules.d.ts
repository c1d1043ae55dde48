/** Third-party modules that have no types of their own; import_map.html says what is served for these names. */

declare module "highlight" {
  const hljs: {
    getLanguage(name: string): object | undefined;
    registerLanguage(name: string, grammar: (hljs: object) => object): void;
    highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string };
  };
  export default hljs;
}

declare module "languages/*" {
  const grammar: (hljs: object) => object;
  export default grammar;
}
