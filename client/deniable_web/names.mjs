// The names of properties that bundles shorten: those that TypeScript knows to be ours wherever they stand.
//
// One place where a name may be somebody else's keeps it: a property of the platform, or of something of type `any`; a key
// of an object that goes where all objects may, such as JSON, storage, messages and sentences with braces; what pages and
// browsers see of an element. So what is sent, stored or shown has its own names in every build, and nobody keeps a list.

import { fileURLToPath } from "node:url";
import * as ast from "typescript/unstable/ast";
import { API, SymbolFlags, TypeFlags } from "typescript/unstable/sync";

/** @typedef {import("typescript/unstable/ast").Node} Node */
/** @typedef {import("typescript/unstable/sync").Symbol} Symbol */
/** @typedef {import("typescript/unstable/sync").Type} Type */

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const MEMBER = SymbolFlags.Property | SymbolFlags.Method | SymbolFlags.Accessor;

/** What browsers ask the class of an element for, which none of their types says. */
const ASKED = /Callback$|^(observedAttributes|formAssociated)$/;

/**
 * The names, in alphabetical order, and the paths of the sources in which they were looked for.
 * @param {string} [folder] of the sources and their tsconfig.json, with a slash at its end
 */
export function ownNames(folder = FOLDER) {
  const api = new API({ cwd: folder });
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${folder}tsconfig.json`] }).getProjects();
    return new Names(project, folder).read();
  } finally {
    api.close();
  }
}

/** Short names, those first of which sources have most. */
const LETTERS = [..."teisranolhcudpfmbgwyvkxjqzABCDEFGHIJKLMNOPQRSTUVWXYZ_$"];

class Names {
  /** Every name of a property in the sources. @type {Set<string>} */
  #met = new Set();
  /** Those that may be somebody else's. @type {Set<string>} */
  #kept = new Set();
  /** Names that one object may have, in one string, for every type and what it goes to. @type {Set<string>} */
  #together = new Set();
  /** How often each name stands in the sources. @type {Map<string, number>} */
  #uses = new Map();
  #checker;
  #program;
  #folder;
  #input;

  /** @param {import("typescript/unstable/sync").Project} project @param {string} folder */
  constructor({ checker, program }, folder) {
    this.#checker = checker;
    this.#program = program;
    this.#folder = folder.toLowerCase();
    const input = /** @type {Symbol} */ (checker.resolveName("HTMLInputElement", SymbolFlags.Interface));
    this.#input = checker.getDeclaredTypeOfSymbol(input);
  }

  read() {
    const sources = this.#program.getSourceFileNames().filter((path) => this.#isOurFile(path));
    for (const path of sources) this.#visit(this.#program.getSourceFile(path));
    const names = [...this.#met].filter((name) => !this.#kept.has(name)).sort();
    return { names, short: this.#shorten(names), sources };
  }

  /**
   * A short name for each: two names that no object has both may be the same one, which gzip makes less of.
   * @param {string[]} names @returns {Record<string, string>}
   */
  #shorten(names) {
    /** @type {Map<string, Set<string>>} */
    const rivals = new Map(names.map((name) => [name, new Set()]));
    for (const each of this.#together) {
      const own = each.split(" ").filter((name) => rivals.has(name));
      for (const name of own) for (const other of own) rivals.get(name)?.add(other);
    }
    const free = LETTERS.filter((letter) => !this.#kept.has(letter));
    /** @type {Record<string, string>} */
    const short = {};
    const often = (/** @type {string} */ name) => this.#uses.get(name) ?? 0;
    for (const name of names.toSorted((one, other) => often(other) - often(one))) {
      const taken = new Set(Array.from(rivals.get(name) ?? [], (other) => short[other]));
      const letter = free.find((each) => !taken.has(each));
      if (!letter) throw new Error(`${name}: no letter is left for it`);
      short[name] = letter;
    }
    return short;
  }

  /** @param {any} node */
  #visit(node) {
    const checker = this.#checker;
    if (ast.isPropertyAccessExpression(node)) {
      this.#meet(node.name, this.#isOurs(checker.getSymbolAtLocation(node.name)));
    } else if (ast.isClassDeclaration(node) || ast.isClassExpression(node)) {
      this.#visitClass(node);
    } else if (ast.isObjectLiteralExpression(node)) {
      const expected = checker.getContextualType(node);
      for (const { name } of node.properties) {
        if (name) this.#meet(name, !expected || isFree(expected) || this.#isOurProperty(expected, name.text));
      }
    } else if (ast.isObjectBindingPattern(node)) {
      const type = checker.getTypeAtLocation(node);
      this.#meetTogether([type]);
      for (const { propertyName, name, dotDotDotToken } of node.elements) {
        const key = propertyName ?? name;
        if (!dotDotDotToken) this.#meet(key, this.#isOurProperty(type, key.text));
      }
    } else if (ast.isElementAccessExpression(node)) {
      const index = checker.getTypeAtLocation(node.argumentExpression);
      if (!index || !(index.flags & TypeFlags.NumberLike)) this.#escape(checker.getTypeAtLocation(node.expression));
    } else if (ast.isBinaryExpression(node) && node.operatorToken.kind === ast.SyntaxKind.InKeyword) {
      this.#escape(checker.getTypeAtLocation(node.right));
      if (ast.isStringLiteral(node.left)) this.#kept.add(node.left.text);
    } else if (ast.isForInStatement(node)) {
      this.#escape(checker.getTypeAtLocation(node.expression));
    } else if (ast.isCallExpression(node) && /^Reflect\b/.test(node.expression.getText())) {
      for (const each of node.arguments) this.#escape(checker.getTypeAtLocation(each)); // its types say no more than T
    }
    if (ast.isExpression(node)) {
      const [expected, type] = [checker.getContextualType(node), checker.getTypeAtLocation(node)];
      if (expected && this.#takesAnything(expected)) this.#escape(type);
      this.#meetTogether([type, expected]);
      // What comes in has its names from elsewhere; `this` is what the sources say that it is.
      if (type && type.flags & TypeFlags.Any && node.kind !== ast.SyntaxKind.ThisKeyword) this.#escape(expected);
    }
    node.forEachChild((/** @type {Node} */ child) => void this.#visit(child));
  }

  /** Take note of all names that an object of these types may have. @param {(Type | undefined)[]} types */
  #meetTogether(types) {
    const parts = types.flatMap((type) => (type ? partsOf(type) : []));
    const found = parts.flatMap((part) => this.#checker.getPropertiesOfType(this.#checker.getApparentType(part) ?? part));
    const names = new Set(found.filter(this.#isOurs).map(({ name }) => name));
    if (names.size > 1) this.#together.add([...names].sort().join(" "));
  }

  /** @param {any} node */
  #visitClass(node) {
    const checker = this.#checker;
    const type = checker.getTypeAtLocation(node);
    this.#meetTogether([checker.getDeclaredTypeOfSymbol(/** @type {Symbol} */ (type?.getSymbol())), type]);
    const bases = type?.isClassOrInterface() ? checker.getBaseTypes(type) : [];
    const isElement = !!this.#property(type, "attachShadow");
    for (const { name } of node.members) {
      if (!name) continue;
      // A page takes an element of a form for an input, so it may use whatever an input has.
      const isOpen = isElement && (ASKED.test(name.text) || !!this.#property(this.#input, name.text));
      this.#meet(name, !isOpen && bases.flatMap((base) => this.#property(base, name.text) ?? []).every(this.#isOurs));
    }
  }

  /** A name where it stands: esbuild shortens none that is private, in quotes or computed. @param {any} name @param {boolean} isInner */
  #meet(name, isInner) {
    if (ast.isPrivateIdentifier(name)) return;
    this.#uses.set(name.text, (this.#uses.get(name.text) ?? 0) + 1);
    if (isInner && ast.isIdentifier(name)) this.#met.add(name.text);
    else if (name.text) this.#kept.add(name.text);
  }

  /** @param {Type | undefined} type @param {string} name */
  #property(type, name) {
    return type && this.#checker.getPropertyOfType(this.#checker.getApparentType(type) ?? type, name);
  }

  /** On a disk that knows no capitals, TypeScript has paths without. @param {string} path */
  #isOurFile(path) {
    return path.toLowerCase().startsWith(this.#folder) && path.endsWith(".js") && !path.includes("node_modules");
  }

  #isOurs = (/** @type {Symbol | undefined} */ symbol) =>
    !!symbol &&
    !!(symbol.flags & MEMBER) &&
    symbol.declarations.length > 0 &&
    symbol.declarations.every(({ path }) => this.#isOurFile(path));

  /** Whether a type has a property, and all its parts that do have it from us. @param {Type | undefined} type @param {string} name */
  #isOurProperty(type, name) {
    const found = type ? partsOf(type).flatMap((each) => this.#property(each, name) ?? []) : [];
    return found.length > 0 && found.every(this.#isOurs) && !this.#takesAnything(/** @type {Type} */ (type));
  }

  /** Whether objects that go there may be read by whatever names they have. @param {Type} type */
  #takesAnything(type) {
    const [checker, anything] = [this.#checker, TypeFlags.AnyOrUnknown | TypeFlags.NonPrimitive];
    const isBag = (/** @type {Type} */ each) =>
      !checker.isArrayLikeType(each) && (checker.getIndexInfosOfType(each).length || !checker.getPropertiesOfType(each).length);
    return partsOf(type).some((each) => each.flags & anything || (each.flags & TypeFlags.Object && isBag(each)));
  }

  /** Keep the names of all that is within a value that may be read by any name. @param {Type | undefined} type */
  #escape(type, seen = new Set()) {
    const checker = this.#checker;
    for (const part of type ? partsOf(type) : []) {
      if (seen.has(part.id) || !(part.flags & (TypeFlags.Object | TypeFlags.TypeParameter))) continue;
      seen.add(part.id);
      for (const { valueType } of checker.getIndexInfosOfType(part)) this.#escape(valueType, seen);
      for (const property of checker.getPropertiesOfType(checker.getApparentType(part) ?? part)) {
        if (!this.#isOurs(property)) continue;
        this.#kept.add(property.name);
        this.#escape(checker.getTypeOfSymbol(property), seen);
      }
    }
  }
}

/** The types of which a value has one, or all. @param {Type} type @returns {Type[]} */
const partsOf = (type) => (type.flags & (TypeFlags.Union | TypeFlags.Intersection) ? (type.getTypes() ?? []).flatMap(partsOf) : [type]);

/** Whether a value keeps the type that it has, so that TypeScript goes on watching it. @param {Type} type */
const isFree = (type) => partsOf(type).every(({ flags }) => flags & TypeFlags.TypeParameter);
