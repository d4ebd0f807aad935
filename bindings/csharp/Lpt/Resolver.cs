#if NET7_0_OR_GREATER
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Lpt
{
    /// <summary>Loads the library by its SONAME on .NET, so that the development package is not needed.</summary>
    internal static class Resolver
    {
        [ModuleInitializer]
        internal static void Install()
        {
            NativeLibrary.SetDllImportResolver(typeof(Resolver).Assembly, Find);
        }

        private static IntPtr Find(string name, Assembly assembly, DllImportSearchPath? path)
        {
            IntPtr found;
            return name == Native.Library && NativeLibrary.TryLoad("liblpt.so.1", assembly, path, out found) ? found : IntPtr.Zero;
        }
    }
}
#endif
